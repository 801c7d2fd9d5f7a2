/** Of rows by name, each an object of columns by name; cells as wide as Prettier makes them. */
export function markdownTable(rows) {
  const columns = [...new Set([...rows.values()].flatMap((row) => Object.keys(row)))];
  const lines = [
    ['', ...columns],
    ...[...rows].map(([name, row]) => [name, ...columns.map((column) => String(row[column] ?? ''))]),
  ];
  const widths = lines[0].map((_, i) => Math.max(3, ...lines.map((line) => line[i].length)));
  const asText = (cells) => `| ${cells.join(' | ')} |`;
  const isNumber = columns.map((column) =>
    [...rows.values()].every((row) => /^[\d.]* ?%?$/.test(String(row[column] ?? ''))),
  );
  const padded = lines.map((line) =>
    line.map((cell, i) => (i > 0 && isNumber[i - 1] ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))),
  );
  const rule = widths.map((width, i) => (i > 0 && isNumber[i - 1] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return [asText(padded[0]), asText(rule), ...padded.slice(1).map(asText)].join('\n');
}

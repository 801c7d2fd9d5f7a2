/** Tables in Prettier's layout. */

/** Makes a table of rows by name, each an object of columns by name. */
export function markdownTable(rows) {
  const columns = [...new Set([...rows.values()].flatMap((row) => Object.keys(row)))];
  const lines = [
    ['', ...columns],
    ...[...rows].map(([name, row]) => [name, ...columns.map((column) => String(row[column] ?? ''))]),
  ];
  const widths = lines[0].map((_, i) => Math.max(3, ...lines.map((line) => line[i].length)));
  const asText = (cells) => `| ${cells.join(' | ')} |`;
  const [head, ...body] = lines.map((line) =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))),
  );
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [head, rule, ...body].map(asText).join('\n');
}

/** Help within the width of a screen. Pure. */

/** Breaks lines that are too long. What a line loses begins the next one, if that goes on with its text. */
export function withinColumns(text: string, columns: number): string {
  const lines: string[] = [];
  let carried = '';
  for (const line of text.split('\n')) {
    const indent = indentOf(line);
    const goesOn = carried !== '' && line.trim() !== '' && indentOf(carried) === indent && !isTerm(line);
    if (carried !== '' && !goesOn) lines.push(carried);
    const whole = goesOn ? `${carried} ${line.trim()}` : line;
    carried = '';
    const broken = broke(whole, columns);
    if (broken.length > 1 && !isCommand(whole)) carried = broken.pop()!;
    lines.push(...broken);
  }
  return [...lines, ...(carried === '' ? [] : [carried])].join('\n');
}

function broke(line: string, columns: number): string[] {
  const lines: string[] = [];
  const end = isCommand(line) ? ' \\' : '';
  const hanging = end === '' ? indentOf(line) : indentOf(line) + 2;
  let rest = line;
  while (rest.length > columns) {
    const at = rest.lastIndexOf(' ', columns - end.length);
    const isText = rest.slice(0, at).trim() !== '';
    if (at < 0 || !isText) {
      // One long word: it stands further to the left.
      const word = rest.trim().split(' ', 1)[0]!;
      const left = Math.max(0, columns - word.length);
      if (left >= rest.length - rest.trimStart().length) break;
      rest = ' '.repeat(left) + rest.trimStart();
      if (rest.length <= columns) break;
      lines.push(' '.repeat(left) + word);
      rest = ' '.repeat(hanging) + rest.trimStart().slice(word.length).trimStart();
      continue;
    }
    lines.push(rest.slice(0, at).trimEnd() + end);
    rest = ' '.repeat(hanging) + rest.slice(at).trim();
  }
  return [...lines, rest];
}

/** Place of the text: behind the flag that a line begins with, or behind its spaces. */
function indentOf(line: string): number {
  return (/^ {2,}-\S.*? {2,}(?=\S)/.exec(line) ?? /^ */.exec(line)!)[0].length;
}

/** A line that begins something of its own. */
function isTerm(line: string): boolean {
  return /^ {2,}-/.test(line) || isCommand(line);
}

function isCommand(line: string): boolean {
  return /^ {2}nixl-otel /.test(line);
}

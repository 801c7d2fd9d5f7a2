/** Breaks long PromQL into lines: at operators between vectors, and inside of parentheses. */

const WIDTH = 116;
/** The loosest first. */
const OPERATORS = [/^or /, /^(and|unless) /, /^([<>]=?|==|\/) /];

export function laidOut(text, indent = '') {
  const line = `${indent}${text.replaceAll('\n', ' ')}`;
  if (line.length <= WIDTH) return line;
  for (const operator of OPERATORS) {
    const operands = splitOutside(line.trim(), (rest) => operator.test(rest));
    if (operands.length > 1) return operands.map((operand) => laidOut(operand, indent)).join('\n');
  }
  const [name, inside, after] = largestGroup(line.trim());
  if (inside === undefined) return line;
  const [first, ...others] = splitOutside(inside, (rest) => rest.startsWith(', '));
  const rest = others.length === 0 ? '' : `,\n${indent}  ${others.join('').slice(', '.length)}`;
  return [`${indent}${name}(`, `${laidOut(first, `${indent}  `)}${rest}`, `${indent})${after}`].join('\n');
}

/** Splits a text outside of parentheses, braces and quotes, before each rest that fulfils the predicate. */
function splitOutside(text, isBegin) {
  const parts = [''];
  walk(text, (character, depth, at) => {
    if (depth === 0 && at > 0 && isBegin(text.slice(at)) && (text[at] === ',' || text[at - 1] === ' ')) parts.push('');
    parts[parts.length - 1] += character;
  });
  return parts.map((part) => part.trimEnd());
}

/** Returns the text before, inside and after the longest outermost pair of parentheses. */
function largestGroup(text) {
  let largest = [text];
  let begin = 0;
  walk(text, (character, depth, at) => {
    if (character === '(' && depth === 0) begin = at;
    const inside = character === ')' && depth === 1 ? text.slice(begin + 1, at) : '';
    if (inside.length > (largest[1] ?? '').length) largest = [text.slice(0, begin), inside, text.slice(at + 1)];
  });
  return largest;
}

/** Visits each character with the depth before it. */
function walk(text, visit) {
  let depth = 0;
  let isQuoted = false;
  for (const [at, character] of [...text].entries()) {
    visit(character, isQuoted ? depth + 1 : depth, at);
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && '({['.includes(character)) depth += 1;
    else if (!isQuoted && ')}]'.includes(character)) depth -= 1;
  }
}

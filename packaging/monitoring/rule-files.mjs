/** Rule files of Prometheus, as YAML. */
import { stringify } from 'yaml';
import { laidOut } from './layout.mjs';

/** Returns the text of a file. A group and a rule may have a `comment`. */
export function ruleFile(about, groups) {
  const texts = groups.map(({ name, comment, rules }) => {
    const items = rules.map((rule) => indented(item(rule), 6)).join('\n');
    return `${commented(comment, 2)}  - name: ${name}\n    rules:\n${items}`;
  });
  return `${commented(about, 0)}groups:\n${texts.join('\n')}`;
}

function item({ comment, ...rule }) {
  return `${commented(comment, 0)}${stringify([{ ...rule, expr: laidOut(rule.expr) }], { lineWidth: 0 })}`;
}

function commented(text, width) {
  return text === undefined ? '' : `${indented(text, width, '# ')}\n`;
}

function indented(text, width, mark = '') {
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.map((line) => `${' '.repeat(width)}${mark}${line}`.trimEnd()).join('\n') + (mark === '' ? '\n' : '');
}

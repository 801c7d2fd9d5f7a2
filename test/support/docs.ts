import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../cli/command.js';

/** Examples in JavaScript of a page, in their order. */
export function codeOf(page: string): string[] {
  const text = readFileSync(path.join(ROOT, page), 'utf8');
  return [...text.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code!);
}

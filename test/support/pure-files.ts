/** Test files of functions alone, which can share a process: its start takes longer than they do. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What needs a process of its own: the addon's collector thread, servers, other processes, replaced functions and variables. */
const NEEDS_PROCESS = /node:(child_process|worker_threads|https?|net)|\bvi\.|\bprocess\./;
const ADDON = path.normalize('src/shm-bridge/addon.ts');

/** Returns those below a folder, none of whose imports, direct or not, needs a process of its own. */
export function pureFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.test.ts')).map((name) => path.join(folder, name));
  return files.filter((file) => [...withImports(file)].every(isPure));
}

function isPure(file: string): boolean {
  return file !== ADDON && (file.startsWith('src') || !NEEDS_PROCESS.test(textOf(file)));
}

/** Takes each relative path in quotes for an import. */
function withImports(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, relative] of textOf(file).matchAll(/'(\.\.?\/[^'\n]+\.)(?:js|ts|mjs)'/g)) {
    const imported = path.join(path.dirname(file), `${relative}ts`);
    if (existsSync(imported)) withImports(imported, found);
  }
  return found;
}

const texts = new Map<string, string>();
function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(file, 'utf8');
  texts.set(file, text);
  return text;
}

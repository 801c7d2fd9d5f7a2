// Lets Node.js import the TypeScript of this checkout: `node --import ./test/incidents/typescript.mjs FILE.ts`.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const options = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true };

/** Takes the source where TypeScript's imports name the compiled file. */
export function resolve(specifier, context, next) {
  if (specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL !== undefined) {
    const source = new URL(specifier.replace(/js$/, 'ts'), context.parentURL);
    if (existsSync(fileURLToPath(source))) return { url: source.href, shortCircuit: true };
  }
  return next(specifier, context);
}

/** A change of one source, to break a rule on purpose: see break.mjs. */
const change = JSON.parse(process.env['NIXL_OTEL_TEST_CHANGE'] ?? 'null');

function changed(url, text) {
  if (change === null || !url.endsWith(`/${change.file}`)) return text;
  if (text.split(change.from).length !== 2) throw new Error(`${change.file} has not this text once: ${change.from}`);
  return text.replace(change.from, () => change.to);
}

export function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const text = changed(url, readFileSync(fileURLToPath(url), 'utf8'));
  const source = ts.transpileModule(text, { compilerOptions: options, fileName: url }).outputText;
  return { format: 'module', source, shortCircuit: true };
}

// `node --import loaded-modules.mjs PROGRAM`, with a file name in LOADED_MODULES: writes the URL of every module that the
// process loads into that file, at its exit.
import { appendFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';

const file = process.env['LOADED_MODULES'];
const hooks = `
  import { appendFileSync } from 'node:fs';
  export async function load(url, context, next) {
    appendFileSync(${JSON.stringify(file)}, url + '\\n');
    return next(url, context);
  }`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
// The hooks miss what a CommonJS module requires.
const require = createRequire(import.meta.url);
process.on('exit', () => appendFileSync(file, Object.keys(require.cache).join('\n')));

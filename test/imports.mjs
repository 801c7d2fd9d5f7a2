// Checks the directions of the imports in src, and that no imports form a circle. `npm run lint` calls it.
//
//   node test/imports.mjs [FOLDER]    the folder that holds src
//
// Imports of types count, in circles as well: a file that names a type cannot be read without the other file.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const LIBRARY = ['ground', 'mapping', 'shm-bridge', 'settings', 'instrumentation'];
const COMMAND = [...LIBRARY, 'cli', 'cli/figures', 'cli/process', 'cli/http', 'node:', '@opentelemetry/', 'commander'];

/**
 * The rooms: a folder of src, with what its files may import besides their neighbours: other rooms, and packages by
 * the beginning of their names. A folder that is not listed belongs to the one above.
 */
const ROOMS = {
  // src/*.ts: for the package's entry points, and for all rooms.
  entry: [...LIBRARY, 'testing', 'node:'],
  ground: ['node:fs'], // package.ts checks its own folder

  mapping: ['ground'],
  'shm-bridge': ['ground', 'node:'],
  settings: ['ground', 'mapping', 'shm-bridge', 'node:', '@opentelemetry/', 'yaml'],
  testing: ['ground', 'mapping', 'shm-bridge', 'node:'],
  instrumentation: ['ground', 'mapping', 'shm-bridge', 'settings', 'node:', '@opentelemetry/'],

  'cli/figures': ['ground', 'mapping', 'string-width'],
  'cli/process': ['ground', 'settings', 'node:', '@opentelemetry/'],
  'cli/http': [...LIBRARY, 'cli/process', 'node:', '@opentelemetry/'],
  'cli/access': ['ground', 'settings', 'instrumentation', 'cli/process', 'cli/http', 'node:', 'bcryptjs'],
  'cli/verdict': ['ground', 'cli/figures'], // the browser loads it
  'cli/history': ['ground', 'mapping', 'shm-bridge', 'cli/figures', 'cli/verdict'],
  'cli/api': [...LIBRARY, 'cli/figures', 'cli/http', 'cli/process', 'cli/verdict', 'cli/history', 'node:'],
  'cli/page': ['ground', 'cli/process', 'cli/http', 'node:'],
  'cli/page/browser': ['ground', 'cli/figures', 'cli/verdict', 'cli/api', 'uplot'],
  // The commands.
  'cli/completion': COMMAND,
  'cli/config': [...COMMAND, 'cli/access', 'yaml'],
  'cli/demo': [...COMMAND, 'cli/serve'], // is serve with agents
  'cli/doctor': [...COMMAND, 'cli/access', 'cli/serve'], // pushes as serve does
  'cli/list': COMMAND,
  'cli/read': COMMAND,
  'cli/simulate': COMMAND,
  'cli/serve': [...COMMAND, 'cli/access', 'cli/api', 'cli/page'],
  'cli/top': [...COMMAND, 'cli/api', 'cli/verdict', 'cli/doctor'], // shows the findings of doctor
  // src/cli/*.ts: the program and what several commands share.
  cli: [
    ...COMMAND,
    'cli/completion',
    'cli/config',
    'cli/demo',
    'cli/doctor',
    'cli/list',
    'cli/read',
    'cli/serve',
    'cli/simulate',
    'cli/top',
  ],
};
const ENTRY_POINTS = ['src/index.ts', 'src/register.ts', 'src/rings.ts', 'src/testing.ts'];

function sourceFiles() {
  const files = readdirSync('src', { recursive: true }).filter((file) => file.endsWith('.ts'));
  return files.map((file) => path.join('src', file)).sort();
}

/** `[{ name, line }]`: paths for relative names, package names otherwise. */
function importsOf(file) {
  const text = readFileSync(file, 'utf8');
  return ts.preProcessFile(text).importedFiles.map(({ fileName, pos }) => ({
    name: fileName.startsWith('.') ? sourceOf(path.join(path.dirname(file), fileName)) : fileName,
    line: text.slice(0, pos).split('\n').length,
  }));
}

const sourceOf = (file) => [file.replace(/\.js$/, '.ts'), file.replace(/\.js$/, '.d.ts')].find(existsSync) ?? file;

function roomOf(file) {
  if (path.dirname(file) === 'src') return ENTRY_POINTS.includes(file) ? 'entry' : 'ground';
  for (let folder = path.dirname(file); folder !== '.'; folder = path.dirname(folder)) {
    if (folder.slice('src/'.length) in ROOMS) return folder.slice('src/'.length);
  }
  return `no room of test/imports.mjs (${path.dirname(file)})`;
}

function wrongDirections(graph) {
  const problems = [];
  for (const [file, imports] of graph) {
    const from = roomOf(file);
    for (const { name, line } of imports) {
      const to = graph.has(name) ? roomOf(name) : name;
      const isAllowed = ROOMS[from]?.some((allowed) => (graph.has(name) ? to === allowed : to.startsWith(allowed)));
      if (to !== from && !isAllowed) problems.push(`${file}:${line}: ${from} must not import ${to} (${name})`);
    }
  }
  return problems;
}

/** One line for each import that closes a circle. */
function circles(graph) {
  const problems = [];
  const done = new Set();
  const visit = (file, way) => {
    if (way.includes(file)) problems.push(`circle: ${[...way.slice(way.indexOf(file)), file].join(' -> ')}`);
    if (done.has(file) || way.includes(file)) return;
    for (const { name } of graph.get(file)) if (graph.has(name)) visit(name, [...way, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return problems;
}

process.chdir(process.argv[2] ?? path.resolve(import.meta.dirname, '..'));
const graph = new Map(sourceFiles().map((file) => [file, importsOf(file)]));
const problems = [...wrongDirections(graph), ...circles(graph)];
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`the imports of ${graph.size} files go one way`);
process.exitCode = problems.length === 0 ? 0 : 1;

// Checks the directions of the imports in src and of the includes in native, that no imports form a circle, and that no
// room is too large.
// `npm run lint` calls it.
//
//   node test/imports.mjs [FOLDER]    the folder that holds src and native
//
// Imports of types count, in circles as well: a file that names a type cannot be read without the other file.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const LIBRARY = ['ground', 'engines', 'mapping', 'shm-bridge', 'settings', 'instrumentation'];
const VIEW = [
  'view/figures',
  'view/sizes',
  'way',
  'view/model',
  'view/slowness',
  'view/verdict',
  'view/incidents',
  'view/answers',
  'view/client',
  'view/rings',
  'comparison',
];
const SERVE = [
  'serve/http',
  'serve/exposition',
  'serve/access',
  'serve/history',
  'serve/state',
  'serve/slowness',
  'serve/way',
  'serve/incidents',
  'serve/api',
  'serve/outputs',
  'serve',
];
const COMMAND = [
  ...LIBRARY,
  ...VIEW,
  'report',
  'report/html',
  'process',
  'cli',
  'node:',
  '@opentelemetry/',
  'commander',
];

/**
 * The rooms: a folder of src, with what its files may import besides their neighbours: other rooms, and packages by
 * the beginning of their names. A folder that is not listed belongs to the one above.
 */
const ROOMS = {
  // The package's entry points, src/*.ts.
  entry: [...LIBRARY, 'view/sizes', 'view/slowness', 'testing', 'node:'],
  ground: ['node:fs'], // package.ts checks its own folder

  engines: ['ground'],
  mapping: ['ground', 'engines'],
  'shm-bridge': ['ground', 'engines', 'node:'],
  settings: ['ground', 'engines', 'mapping', 'shm-bridge', 'node:', '@opentelemetry/', 'yaml', 'smol-toml'],
  host: ['ground', 'way', 'node:'], // counters of the host and of processes
  testing: ['ground', 'mapping', 'shm-bridge', 'node:'],
  instrumentation: [
    'ground',
    'engines',
    'mapping',
    'shm-bridge',
    'settings',
    'view/sizes',
    'view/slowness',
    'view/verdict',
    'node:',
    '@opentelemetry/',
  ],
  process: ['ground', 'settings', 'node:', '@opentelemetry/', 'commander'],

  'view/figures': ['ground', 'string-width'],
  'view/sizes': ['ground', 'view/figures'], // the browser loads it
  way: ['ground'], // the browser loads it
  'view/model': ['ground', 'engines', 'mapping', 'view/figures', 'way'],
  'view/slowness': ['ground'],
  'view/verdict': ['ground', 'view/model', 'view/slowness', 'way'], // the browser loads it, with the answers
  'view/incidents': ['ground', 'view/figures', 'view/verdict'], // and most of these
  'view/answers': ['ground', 'view/model', 'view/sizes', 'view/slowness', 'way', 'view/verdict', 'view/incidents'],
  'view/client': ['ground', 'settings', 'process', 'node:', 'commander'],
  'view/rings': ['ground', 'shm-bridge', 'process', 'view/figures', 'node:'],
  comparison: ['ground', 'view/figures', 'view/sizes'],

  report: ['ground', ...VIEW], // pure, but for files of a report
  'report/html': ['ground', ...VIEW, 'report', 'node:fs'],

  'serve/http': [...LIBRARY, 'process', 'view/client', 'node:', '@opentelemetry/'],
  'serve/exposition': [...LIBRARY, 'process', 'serve/http', 'node:', '@opentelemetry/'],
  'serve/access': ['ground', 'settings', 'instrumentation', 'process', 'serve/http', 'node:', 'bcryptjs'],
  'serve/history': ['ground', 'mapping', 'shm-bridge', 'view/figures', 'view/model', 'view/verdict', 'view/answers'],
  'serve/state': ['ground', 'shm-bridge', 'view/rings', 'process', 'node:'],
  'serve/slowness': ['serve/state', 'view/slowness'],
  'serve/way': ['host', 'shm-bridge', 'view/model', 'way'],
  'serve/incidents': ['ground', 'instrumentation', 'serve/state', 'view/slowness', 'view/verdict', 'view/incidents'],
  'serve/api': [
    ...LIBRARY,
    ...VIEW,
    'process',
    'serve/http',
    'serve/history',
    'serve/state',
    'serve/slowness',
    'serve/way',
    'serve/incidents',
    'node:',
  ],
  'serve/outputs': [
    ...LIBRARY,
    'process',
    'serve/http',
    'serve/exposition',
    'view/incidents',
    'node:',
    '@opentelemetry/',
    'commander',
  ],
  serve: [...LIBRARY, ...SERVE, 'process', 'node:', '@opentelemetry/'], // joins the parts
  page: ['ground', 'process', 'serve/http', 'node:'],
  'page/browser/common': ['ground', ...VIEW],
  'page/browser/charts': ['ground', ...VIEW, 'page/browser/common', 'uplot'],
  'page/browser': ['ground', ...VIEW, 'page/browser/common', 'page/browser/charts'],
  top: [...LIBRARY, ...VIEW, 'process', 'node:'],

  // The commands.
  'cli/compare': COMMAND,
  'cli/accept': COMMAND,
  'cli/completion': COMMAND,
  'cli/config': [...COMMAND, ...SERVE, 'yaml'],
  'cli/demo': [...COMMAND, ...SERVE, 'page'], // is serve with agents
  'cli/doctor': [...COMMAND, ...SERVE], // pushes as serve does
  'cli/incidents': COMMAND,
  'cli/list': COMMAND,
  'cli/maintenance': COMMAND,
  'cli/prune': COMMAND,
  'cli/read': COMMAND,
  'cli/report': [...COMMAND, ...SERVE, 'cli/run'], // the end of run
  'cli/run': [...COMMAND, ...SERVE],
  'cli/serve': [...COMMAND, ...SERVE, 'page'],
  'cli/simulate': COMMAND,
  'cli/top': [...COMMAND, 'top'],
  // src/cli/*.ts: the program and what several commands share.
  cli: [
    ...COMMAND,
    'cli/compare',
    'cli/accept',
    'cli/completion',
    'cli/config',
    'cli/demo',
    'cli/doctor',
    'cli/incidents',
    'cli/list',
    'cli/maintenance',
    'cli/prune',
    'cli/read',
    'cli/report',
    'cli/run',
    'cli/serve',
    'cli/simulate',
    'cli/top',
  ],
};
/** The rooms of native. A file includes those of its own room and of the rooms before it. */
const NATIVE_ROOMS = ['posix', 'sync', 'page', 'ring', 'process', 'tally', 'state', 'collector', 'addon'];
/** A program beside the addon: it writes rings. */
const TRANSFER_SOURCE = ['posix', 'sync', 'ring'];
/** Folders beside the rooms: what is built, and what tests or measures rooms. */
const NO_ROOMS = ['build', 'prebuild', 'test', 'bench', 'fuzz'].map((name) => `native/${name}`);
/** Folders that count as rooms of their own, and not as parts of the room around them. */
const INNER_ROOMS = ['src/page/browser/charts', 'src/serve/outputs', 'src/cli/doctor'];
const MOST_LINES = 7000;
const MOST_FILES = 30;
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

function wrongIncludes() {
  const rooms = [...NATIVE_ROOMS, 'transfer-source'].filter((room) => existsSync(`native/${room}`));
  return rooms.flatMap((room) => {
    const allowed = room === 'transfer-source' ? TRANSFER_SOURCE : NATIVE_ROOMS.slice(0, NATIVE_ROOMS.indexOf(room));
    const files = readdirSync(`native/${room}`).map((name) => `native/${room}/${name}`);
    return files.flatMap((file) => {
      const lines = readFileSync(file, 'utf8').split('\n');
      return lines.flatMap((text, at) => {
        const to = /^#include "([\w-]+)\//.exec(text)?.[1];
        const isAllowed = to === undefined || to === room || allowed.includes(to);
        return isAllowed ? [] : [`${file}:${at + 1}: native/${room} must not include ${to}: ${text}`];
      });
    });
  });
}

/** Rooms of more lines, and folders of more files, have two jobs. */
function largeRooms() {
  const rooms = [...(existsSync('native') ? ['native'] : []), 'src'].flatMap((parent) => {
    const folders = readdirSync(parent, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return folders.map(({ name }) => `${parent}/${name}`).filter((room) => !NO_ROOMS.includes(room));
  });
  return [...rooms, ...INNER_ROOMS.filter((room) => existsSync(room))].flatMap((room) => {
    const entries = readdirSync(room, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const isInside = ({ parentPath }) => !INNER_ROOMS.some((inner) => inner !== room && parentPath === inner);
    const texts = entries.filter((entry) => /\.(ts|cc|h|css|html)$/.test(entry.name) && isInside(entry));
    const lines = texts.reduce((sum, { parentPath, name }) => {
      return sum + readFileSync(path.join(parentPath, name), 'utf8').split('\n').length - 1;
    }, 0);
    const files = filesPerFolder(texts);
    return [
      ...(lines > MOST_LINES ? [`${room} has ${lines} lines; at most ${MOST_LINES}`] : []),
      ...[...files].flatMap(([folder, n]) =>
        n > MOST_FILES ? [`${folder} has ${n} files; at most ${MOST_FILES}`] : [],
      ),
    ];
  });
}

function filesPerFolder(entries) {
  const counts = new Map();
  for (const { parentPath } of entries) counts.set(parentPath, (counts.get(parentPath) ?? 0) + 1);
  return counts;
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
const problems = [...wrongDirections(graph), ...circles(graph), ...wrongIncludes(), ...largeRooms()];
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`the imports of ${graph.size} files go one way`);
process.exitCode = problems.length === 0 ? 0 : 1;

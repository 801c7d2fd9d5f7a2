/** Routes of the live page: its files. Its figures come from /api/v1/agents. */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { packageFolder } from '../ground/package.js';
import { requireFrom } from '../ground/require-from.js';
import { type Handler, INDEX, type Routes } from '../serve/http/metrics-server.js';
import { acceptsGzip } from '../serve/http/sending.js';
import { note } from '../process/output.js';

const zip = promisify(gzip);
/** The smallest size that browsers accept without TLS, where they know no brotli. */
const pack = (bytes: Buffer): Promise<Buffer> => zip(bytes, { level: constants.Z_BEST_COMPRESSION });

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** The page loads nothing from elsewhere and sends nothing anywhere. */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  // A browser must not mix files of two versions.
  'cache-control': 'no-store',
};

const TYPES: Readonly<Record<string, string>> = {
  '.js': SCRIPT,
  '.css': STYLE,
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
/** Modules that the page shares with the command line. Below /page/ they have the paths of dist, so that imports work. */
const SHARED_SCRIPTS = [
  'ground/exact.js',
  'ground/exponential.js',
  'ground/figures/clock.js',
  'ground/figures/figure.js',
  'ground/glob.js',
  'view/answers/answer.js',
  'view/answers/history-answer.js',
  'view/answers/verdict-input.js',
  'view/answers/sizes-answer.js',
  'view/figures/percentiles.js',
  'view/figures/rates.js',
  'view/figures/slow-flushes.js',
  'view/answers/incidents-answer.js',
  'view/incidents/incident-words.js',
  'view/model/agent-model.js',
  'view/model/columns.js',
  'view/model/rows.js',
  'view/sizes/class-strip.js',
  'view/sizes/class-window.js',
  'view/sizes/size-figures.js',
  'view/sizes/size-words.js',
  'view/sizes/time-plot.js',
  'view/slowness/slow-facts.js',
  'view/verdict/way-findings.js',
  'way/way.js',
  'view/verdict/ended-findings.js',
  'view/verdict/failing-finding.js',
  'view/verdict/findings.js',
  'view/verdict/idle.js',
  'view/verdict/labelled.js',
  'view/verdict/loss-findings.js',
  'view/verdict/past-trouble.js',
  'view/verdict/maintenance.js',
  'view/verdict/memory-findings.js',
  'view/verdict/problem-findings.js',
  'view/verdict/quiet-findings.js',
  'view/verdict/shapes.js',
  'view/verdict/slow-findings.js',
  'view/verdict/succession.js',
  'view/verdict/trouble-watch.js',
  'view/verdict/unused-finding.js',
  'view/verdict/verdict.js',
];
const BROWSER = 'page/browser/';
const NEGOTIATED = { vary: 'accept, accept-encoding' };

export function publishPage(server: Routes): void {
  const root = packageFolder('the live page');
  const dist = new URL('dist/', root);
  const folder = new URL(BROWSER, dist);
  const index = file(new URL('index.html', folder), 'text/html; charset=utf-8', NEGOTIATED);
  server.route('/', (request, answer, room) => {
    if (request.headers.accept?.includes('text/html')) index(request, answer, room);
    else answer(200, INDEX, undefined, NEGOTIATED);
  });
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = TYPES[path.extname(name)];
    if (type !== undefined) server.route(`/page/${BROWSER}${name}`, file(new URL(name, folder), type));
  }
  for (const name of SHARED_SCRIPTS) server.route(`/page/${name}`, file(new URL(name, dist), SCRIPT));
  const uplot = pathToFileURL(requireFrom(root).resolve('uplot/package.json'));
  // uPlot has its minified code only as a script, which becomes a module by its last line.
  const script = new URL('dist/uPlot.iife.min.js', uplot);
  server.route(`/page/${BROWSER}charts/uplot.js`, file(script, SCRIPT, {}, '\nexport default uPlot;\n'));
  server.route(`/page/${BROWSER}uplot.css`, file(new URL('dist/uPlot.min.css', uplot), STYLE));
}

/** `end`: text after the content of the file. The file is packed once, on another thread. */
function file(url: URL, contentType: string, headers: Readonly<Record<string, string>> = {}, end = ''): Handler {
  const read = async (): Promise<Buffer> => Buffer.concat([await readFile(url), Buffer.from(end)]);
  let packed: Promise<Buffer> | undefined;
  return (request, answer) => {
    const isPacked = acceptsGzip(request);
    const content = isPacked ? (packed ??= read().then(pack)) : read();
    const encoding = isPacked ? { 'content-encoding': 'gzip' } : {};
    content.then(
      (bytes) => answer(200, bytes, contentType, { ...HEADERS, ...encoding, ...headers }),
      (error: Error) => {
        packed = undefined;
        note(`the live page lacks a file: ${error.message}`, 'warning');
        answer(500, 'A file of this page is missing.');
      },
    );
  };
}

/**
 * The live page's routes: its files, and the numbers it asks for. While nobody asks, nothing is done, and nothing kept but
 * the last answer.
 */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { PACKAGE_VERSION, packageFolder } from '../../package.js';
import type { CustomError } from '../../mapping/index.js';
import { harmless, note } from '../process/output.js';
import { INDEX, type MetricsServer, type PageWriter } from '../http/metrics-server.js';
import type { MetricsPipeline } from '../serve/pipeline.js';
import { pageData, type PageFacts } from './page-data.js';

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** Everything that the page is made of comes from here, and it sends nothing anywhere else. */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
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
  // The files of another version must not be mixed with these.
  'cache-control': 'no-store',
};

const TYPES: Readonly<Record<string, string>> = { '.js': SCRIPT, '.css': STYLE, '.svg': 'image/svg+xml' };
/** What the page shares with the command line lies beside its own folder, as it does in dist/cli. */
const SHARED_SCRIPTS = ['figures/numbers.js', 'figures/quantile.js'];
const NEGOTIATED = { vary: 'accept, accept-encoding' };

/** However many browsers are open, the rings are looked at at most this often. */
const SAME_ANSWER_MS = 500;

export function publishPage(
  server: MetricsServer,
  pipeline: MetricsPipeline,
  directories: readonly string[],
  customErrors: readonly CustomError[] = [],
): void {
  const root = packageFolder('the live page');
  const folder = new URL('dist/cli/page/browser/', root);
  const index = file(new URL('index.html', folder), 'text/html; charset=utf-8', NEGOTIATED);
  server.route('/', (request, answer) => {
    if (request.headers.accept?.includes('text/html')) index(request, answer);
    else answer(200, INDEX, undefined, NEGOTIATED);
  });
  for (const name of readdirSync(folder)) {
    const type = TYPES[path.extname(name)];
    if (type !== undefined) server.route(`/page/browser/${name}`, file(new URL(name, folder), type));
  }
  for (const name of SHARED_SCRIPTS) server.route(`/${name}`, file(new URL(`dist/cli/${name}`, root), SCRIPT));
  const uplot = pathToFileURL(createRequire(root).resolve('uplot/package.json'));
  server.route('/page/browser/uplot.js', file(new URL('dist/uPlot.esm.js', uplot), SCRIPT));
  server.route('/page/browser/uplot.css', file(new URL('dist/uPlot.min.css', uplot), STYLE));
  server.route(
    '/page/data.json',
    data(
      pipeline,
      {
        version: PACKAGE_VERSION,
        hostname: os.hostname(),
        directories: directories.map(harmless),
        startedMs: performance.timeOrigin,
      },
      customErrors,
    ),
  );
}

function file(url: URL, contentType: string, headers: Readonly<Record<string, string>> = {}): PageWriter {
  return (_, answer) => {
    readFile(url, 'utf8').then(
      (text) => answer(200, text, contentType, { ...HEADERS, ...headers }),
      (error: Error) => {
        note(`the live page lacks a file: ${error.message}`, 'warning');
        answer(500, 'A file of this page is missing.');
      },
    );
  };
}

/** Looks, and drains nothing: what the page shows is older than the rings by a drain interval and an answer's age. */
function data(pipeline: MetricsPipeline, facts: PageFacts, customErrors: readonly CustomError[]): PageWriter {
  let text: string | undefined;
  let madeMs = 0;
  return (_, answer) => {
    if (text === undefined || performance.now() - madeMs > SAME_ANSWER_MS) {
      const snapshot = pipeline.peek();
      if (snapshot === undefined) return answer(503, 'The rings are closed.');
      text = JSON.stringify(pageData(snapshot, facts, customErrors));
      madeMs = performance.now();
    }
    answer(200, text, 'application/json', HEADERS);
  };
}

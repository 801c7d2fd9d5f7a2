/** Times to start and memory, each beside its yardstick in turns: an empty Node process, or OpenTelemetry's own modules. */
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { inDirectory, MAIN, medianOf, nodeMs, plural, quantile, round, sleep } from './support/measure.mjs';
import { pushTransfers, writersIn } from './support/transfers.mjs';

export const title = 'milliseconds of whole processes, of attaching in a process that runs, and private memory';

const at = (file) => new URL(`../dist/${file}`, import.meta.url).href;
const ATTACH = fileURLToPath(new URL('support/attach.mjs', import.meta.url));
const TOP_INTERVAL_MS = 100;
const SCRAPES = 200;
/** Numbers of scrapes between which memory must not grow. One scrape per second makes the higher one in five hours. */
const MANY_SCRAPES = [5000, 20_000];

export async function run({ quick }) {
  const runs = quick ? 1 : 15;
  return [
    ...(await inDirectory((directory) => started(directory, runs))),
    ...(await attached(quick ? [1] : [1, 64, 512], quick ? 1 : 9)),
    ...(await memories(quick)),
  ];
}

/** Whole processes, in turns, so that other work on the machine slows all of them alike. */
async function started(directory, runs) {
  const [writer] = writersIn(directory, 1);
  const imported = (...names) => ['--input-type=module', '-e', names.map((name) => `import '${name}'`).join(';')];
  const sdk = imported('@opentelemetry/instrumentation', '@opentelemetry/sdk-metrics');
  const command = (...args) => [MAIN, ...args];
  const cases = {
    'an empty Node process': { args: ['-e', '0'] },
    'import of commander': { args: imported('commander') },
    'nixl-otel --version': { args: command('--version'), target: 1.4 },
    'nixl-otel --help': { args: command('--help'), target: 1.4 },
    'nixl-otel list': { args: command('list', '--dir', directory), target: 1.8 },
    'nixl-otel read': { args: command('read', path.join(directory, 'agent-0')), target: 1.8 },
    'nixl-otel top --once, less its interval': {
      args: command('top', '--once', '--dir', directory, '--interval', String(TOP_INTERVAL_MS)),
      lessMs: TOP_INTERVAL_MS,
      target: 2,
    },
    'nixl-otel serve, until /readyz answers 200': { measure: () => readyMs(directory), target: 4 },
    'import of the rings alone': { args: imported(at('rings.js')), target: 1.3 },
    'import of instrumentation and sdk-metrics': { args: sdk },
    'import of the package': {
      args: imported(at('index.js')),
      of: 'import of instrumentation and sdk-metrics',
      target: 1.1,
    },
    'import of all three': { args: [...sdk.slice(0, 2), `${sdk[2]};import '${at('index.js')}'`] },
  };
  const times = new Map(Object.keys(cases).map((name) => [name, []]));
  for (let turn = 0; turn <= runs; turn++) {
    for (const [name, { args, measure, lessMs = 0 }] of Object.entries(cases)) {
      const ms = measure === undefined ? nodeMs(args) - lessMs : await measure();
      if (turn > 0) times.get(name).push(ms); // the first turn warms up
    }
  }
  writer.close();
  const [empty] = times.keys();
  return Object.entries(cases).map(([name, { of = empty, target }]) => {
    const ms = quantile(times.get(name));
    return { name, ms, of, times: ms / quantile(times.get(of)), target };
  });
}

async function attached(numbers, runs) {
  const rows = [];
  for (const agents of numbers) {
    const ms = await inDirectory((directory) => {
      const writers = writersIn(directory, agents);
      return medianOf(runs, () => {
        writers.forEach((writer) => pushTransfers(writer, 4)); // an empty ring is not exported
        return attachMs(directory, agents);
      });
    });
    rows.push({ name: `attaching to ${plural(agents, 'agent')}, until they are exported`, ms });
  }
  return rows;
}

/** Measures in a separate process, after it has loaded the package. */
function attachMs(directory, agents) {
  return Number(execFileSync(process.execPath, [ATTACH, directory, String(agents)], { encoding: 'utf8' }));
}

async function readyMs(directory) {
  const begun = performance.now();
  const serve = await ready(directory);
  const ms = performance.now() - begun;
  await serve.stop();
  return ms;
}

/** Starts serve, and resolves when /readyz answers 200. */
async function ready(directory, flags = []) {
  const port = await freePort();
  const args = [MAIN, 'serve', '--dir', directory, '--port', String(port), '--host', '127.0.0.1', '--state', 'off'];
  const child = spawn(process.execPath, [...args, ...flags], { stdio: ['ignore', 'ignore', 'ignore'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
  let end;
  void ended.then((code) => (end = code));
  const agent = new Agent({ keepAlive: true });
  const ask = (url) => answerOf({ port, path: url, agent });
  while ((await ask('/readyz')) !== 200) {
    if (end !== undefined) throw new Error(`serve ended with ${end}`);
    await sleep(1);
  }
  const stop = async () => {
    agent.destroy();
    kill();
    process.off('exit', kill);
    await ended;
  };
  return { pid: child.pid, ask, stop };
}

/** Status of an answer; undefined without an answer. */
function answerOf(options) {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', ...options }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    }).once('error', () => resolve(undefined));
  });
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Private memory above that of an empty process, after scrapes between which all series move. */
async function memories(quick) {
  const otlp = ['--exporter', 'prometheus,otlp', '--otlp-endpoint', 'http://127.0.0.1:9'];
  const cases = quick
    ? [[0, [], [1]]]
    : [
        [0, [], [SCRAPES]],
        [64, [], [SCRAPES, ...MANY_SCRAPES]],
        [512, [], [SCRAPES]],
        [0, otlp, [SCRAPES]],
        [64, otlp, [SCRAPES]],
      ];
  const rows = [];
  for (const [agents, flags, scrapes] of cases) {
    const found = await inDirectory((directory) => memoriesOf(directory, agents, flags, [0, ...scrapes]));
    const name = `serve, ${plural(agents, 'agent')}${flags.length > 0 ? ', prometheus and otlp' : ''}`;
    const none = rows.find((row) => row.name === `serve, 0 agents: after ${SCRAPES} scrapes`)?.mib;
    for (const { after, mib } of found) {
      const target = flags.length > 0 || after === 0 ? undefined : { 0: 22, 64: none + 12 }[agents];
      rows.push({
        name: `${name}: ${after === 0 ? 'before the first scrape' : `after ${after} scrapes`}`,
        mib,
        target,
      });
    }
  }
  return rows;
}

/** Memory after each of these numbers of scrapes. */
async function memoriesOf(directory, agents, flags, scrapes) {
  const writers = writersIn(directory, agents);
  const serve = await ready(directory, flags);
  const empty = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6); process.send(1)'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await new Promise((resolve) => empty.once('message', resolve));
  const found = [];
  let done = 0;
  for (const after of scrapes) {
    for (; done < after; done++) {
      writers.forEach((writer) => pushTransfers(writer, 4, done + 1));
      await serve.ask('/metrics');
    }
    found.push({ after, mib: privateMiB(serve.pid) - privateMiB(empty.pid) });
  }
  empty.kill();
  await serve.stop();
  writers.forEach((writer) => writer.close());
  return found;
}

/** Memory of no file: heaps and stacks, without programs and rings. */
function privateMiB(pid) {
  const [, kilobytes] = /^Anonymous:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
  return Number(kilobytes) / 1024;
}

export function caseOf({ name }) {
  return name;
}

export function columnsOf({ ms, times, of, target, mib }) {
  const limit = target === undefined ? '' : `at most ${round(target, 1)}`;
  if (mib !== undefined)
    return { ms: '', 'times its yardstick': '', yardstick: '', 'MiB more': round(mib, 1), target: limit };
  const ratio = times === undefined ? ['', ''] : [round(times), of];
  return { ms: round(ms, 1), 'times its yardstick': ratio[0], yardstick: ratio[1], 'MiB more': '', target: limit };
}

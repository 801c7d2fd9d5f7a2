// `npm run soak -- --minutes 10 [--agents 64] [--kill-every 5]`: runs `serve` under load for that time. Three of its four
// exporters fail, its event loop is sometimes blocked for 3 s, agents start, end, restart in place and are killed, and each
// second there is a scrape. With --kill-every, serve is killed with -9 after up to so many seconds, and started again.
// Prints its observations. The exit code is 1 when an event was lost, a count decreased, or memory or descriptors grew.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Agents } from './agents.mjs';
import { startFaultyReceiver } from './faulty-receiver.mjs';
import { Serve } from './serve.mjs';
import { accounts, canJudgeGrowth, complaints, growth } from './verdict.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    agents: { type: 'string', default: '64' },
    'kill-every': { type: 'string', default: '0' },
    help: { type: 'boolean', short: 'h' },
  },
});
const minutes = Number(values.minutes);
const agentCount = Number(values.agents);
const killEveryMs = Number(values['kill-every']) * 1000;
if (values.help || !(minutes > 0) || !(Number.isInteger(agentCount) && agentCount >= 8) || !(killEveryMs >= 0)) {
  console.error('usage: npm run soak -- [--minutes N] [--agents N, 8 or more] [--kill-every SECONDS, 0: never]');
  process.exit(values.help ? 0 : 2);
}

const SCRAPE_MS = 1000;
const ROWS = 20;
const SETTLE_MS = 5000;
const directory = mkdtempSync(path.join(tmpdir(), 'nixl-otel-soak-'));
const agents = new Agents(directory);
const receiver = await startFaultyReceiver();
const serve = new Serve();
const samples = [];
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    void serve.stop(); // agents end with this process
    process.exit(1);
  });
}
let exitCode;
let kills = 0;
try {
  await serve.start(directory, receiver.url);
  const begun = performance.now();
  const end = begun + minutes * 60_000;
  agents.start(agentCount, Math.ceil(minutes * 60) + 3600); // ended explicitly
  console.log('  time   agents        read   MiB   fds  scrape ms  late ticks  lag s  full  suspect');
  const nextKill = () => (killEveryMs > 0 ? performance.now() + Math.random() * killEveryMs : Infinity);
  let killAt = nextKill();
  for (let nextRow = begun; performance.now() < end; await pause(Math.min(SCRAPE_MS, killEveryMs || SCRAPE_MS))) {
    await look();
    if (performance.now() >= killAt) {
      await serve.kill();
      await serve.start(directory, receiver.url);
      killAt = nextKill();
      kills++;
    }
    if (performance.now() < nextRow) continue;
    nextRow += (minutes * 60_000) / ROWS;
    printRow(performance.now() - begun);
  }
  await agents.end();
  // The agents are dead, and their last events are in the rings: a scrape after the last drain has all of them.
  for (const until = performance.now() + SETTLE_MS; performance.now() < until; await pause(SCRAPE_MS)) await look();
  printRow(performance.now() - begun);
  exitCode = await serve.stop();
} finally {
  receiver.close();
}

const { lost, invented } = accounts(agents.ended, serve.read);
const known = [...agents.ended.keys()].reduce((sum, name) => sum + (serve.read.get(name) ?? 0), 0);
const { written, refused, wiped, restarts } = agents.totals;
const memory = growth(samples, 'residentMiB');
const descriptors = growth(samples, 'descriptors');
console.log(`
agents          ${agents.ended.size} ended, ${agents.killed} killed with -9, ${restarts} restarts in place
written         ${written} events by the ended agents
read            ${known} of them; ${serve.readInAll} with the killed agents
dropped         ${refused} by the producers (ring full), ${wiped} wiped by restarts
lost            ${lost}; counted but never written: ${invented}
serve           killed with -9 ${kills} times
memory          ${memory.before.toFixed(1)} MiB in the second quarter, ${memory.after.toFixed(1)} in the last (medians${canJudgeGrowth(minutes) ? '' : '; too short to judge'})
descriptors     ${descriptors.before} and ${descriptors.after}
slowest scrape  ${serve.slowestScrapeMs.toFixed(0)} ms, with the event loop sometimes blocked for 3 s
OTLP receiver   ${JSON.stringify(receiver.seen)}`);

const found = complaints({ agents, serve, samples: kills === 0 ? samples : [], exitCode, minutes });
for (const complaint of found) console.log(`FAILED: ${complaint}`);
console.log(found.length === 0 ? 'passed' : 'failed');
process.exit(found.length === 0 ? 0 : 1);

async function look() {
  await serve.scrape();
  samples.push({ residentMiB: serve.residentMiB(), descriptors: serve.descriptors() });
}

function printRow(elapsedMs) {
  const of = (name) => serve.page.get(name) ?? 0;
  const seconds = Math.round(elapsedMs / 1000);
  const row = [
    [`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`, 6],
    [of('nixl_collector_agents'), 8],
    [serve.readInAll, 11],
    [samples.at(-1).residentMiB.toFixed(0), 5],
    [samples.at(-1).descriptors, 5],
    [serve.slowestScrapeMs.toFixed(0), 10],
    [of('nixl_collector_late_ticks_total'), 11],
    [of('nixl_collector_lag_max').toFixed(2), 6],
    [of('nixl_ring_full_total'), 5],
    [of('nixl_ring_suspect'), 8],
  ];
  console.log(row.map(([value, width]) => String(value).padStart(width)).join(' '));
}

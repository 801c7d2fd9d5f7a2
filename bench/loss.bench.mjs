/**
 * Losses while the event loop is blocked. Agents flush as many events as NIXL's default ring holds, at NIXL's default
 * interval. The package's collector reads one half of them, a timer in JavaScript the other.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { tallyOptions } from '../dist/mapping/index.js';
import { openRing, openSource } from '../dist/shm-bridge/index.js';
import { Bursts, NIXL_DEFAULT } from './support/bursts.mjs';
import { inDirectory, round, sleep } from './support/measure.mjs';

export const title = 'events lost while the event loop is blocked: 2 agents each, 4095 events every 100 ms, 4096 slots';

const AGENTS = 2;
const DRAIN_INTERVAL_MS = 20;
/** Before and after the block. */
const AROUND_MS = 500;
const BLOCKED_S = [0, 0.1, 1, 5];

export async function run({ quick }) {
  const rows = [];
  for (const blockedS of quick ? [0, 0.1] : BLOCKED_S) rows.push(await inDirectory((root) => lossOf(blockedS, root)));
  return rows;
}

async function lossOf(blockedS, root) {
  const [collected, timed] = ['collected', 'timed'].map((name) => path.join(root, name));
  for (const directory of [collected, timed]) mkdirSync(directory);
  const agents = [await Bursts.start(collected, AGENTS, NIXL_DEFAULT), await Bursts.start(timed, AGENTS, NIXL_DEFAULT)];
  const source = openSource({ directories: [collected], tally: tallyOptions(), drainIntervalMs: DRAIN_INTERVAL_MS });
  const timer = new TimerDrain(timed);
  source.drainNow();
  for (const one of agents) one.begin();
  await sleep(AROUND_MS);
  block(blockedS * 1000);
  await sleep(AROUND_MS);
  const [toCollector, toTimer] = await Promise.all(agents.map((one) => one.stop()));
  source.drainNow();
  const byCollector = source
    .snapshot()
    .agents.reduce((sum, { events }) => sum + events.reduce((n, { count }) => n + count, 0), 0);
  const byTimer = timer.close();
  source.close();
  return { blockedS, collector: lost(toCollector, byCollector), timer: lost(toTimer, byTimer) };
}

/** Counts the events that a full ring refused, and those written but never read. */
function lost({ written, refused }, read) {
  return { made: written + refused, refused, unread: written - read };
}

/** Drains on the event loop, like a program without a thread for it. */
class TimerDrain {
  #rings;
  #read = 0;
  #timer;

  constructor(directory) {
    this.#rings = readdirSync(directory).map((name) => openRing(path.join(directory, name)));
    this.#timer = setInterval(() => this.#drain(), DRAIN_INTERVAL_MS);
  }

  close() {
    clearInterval(this.#timer);
    this.#drain();
    for (const ring of this.#rings) ring.close();
    return this.#read;
  }

  #drain() {
    for (const ring of this.#rings) this.#read += ring.drainColumns().length;
  }
}

/** Blocks the event loop, like synchronous work. */
function block(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

export function caseOf({ blockedS }) {
  return `blocked for ${blockedS} s`;
}

export function columnsOf({ collector, timer }) {
  const share = ({ made, refused, unread }) => `${round((100 * (refused + unread)) / made, 1)} %`;
  return {
    'events made': collector.made,
    'lost, collector': collector.refused + collector.unread,
    'share, collector': share(collector),
    'lost, timer': timer.refused + timer.unread,
    'share, timer': share(timer),
  };
}

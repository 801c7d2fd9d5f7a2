/** CPU time of the same agents: not read, read by serve, and below `nixl-otel run`. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inDirectory, MAIN, quantile, ROOT, round } from './support/measure.mjs';
import { Probed } from './support/probed.mjs';

export const title =
  'CPU of an agent that moves bytes without pauses, with telemetry on; rings hold all events, and are flushed as below run';

/** A ring of 2^20 slots has room for the four events of each transfer. */
const TRANSFERS = 200_000;
const RING = { 'buffer-size': 2 ** 20, 'flush-interval': 10, staging: 0, rate: 0 };
const WORK = { 'no bytes': ['--copy-free'], 'up to 1 MiB each': ['--sizes', '4k:60,64k:30,1M:10'] };
const READERS = {
  'not read': (directory, agent) => agent(directory),
  async serve(directory, agent) {
    const serve = await Probed.serve(directory);
    try {
      agent(directory);
    } finally {
      await serve.stop();
    }
  },
  run: (directory, agent) => agent('$NIXL_TELEMETRY_DIR', [process.execPath, MAIN, 'run', '--tmpfs', directory, '--']),
};

export async function run({ quick }) {
  const rounds = quick ? 1 : 15;
  const rows = [];
  for (const [work, flags] of Object.entries(WORK)) {
    const transfers = quick ? 2000 : flags.length === 1 ? TRANSFERS : TRANSFERS / 4;
    const cpuUs = Object.fromEntries(Object.keys(READERS).map((reader) => [reader, []]));
    for (let i = 0; i <= rounds; i++) {
      // In turn: the other load of the machine changes from second to second.
      for (const [reader, read] of Object.entries(READERS)) {
        const cpuMs = await inDirectory(async (directory) => {
          const times = path.join(directory, 'times');
          await read(directory, (dir, below = []) => moved(dir, below, times, [...flags, '--transfers', transfers]));
          return readFileSync(times, 'utf8')
            .trim()
            .split(' ')
            .reduce((sum, seconds) => sum + 1000 * seconds, 0);
        });
        if (i > 0) cpuUs[reader].push((1000 * cpuMs) / transfers); // the first round warms up
      }
    }
    const plain = quantile(cpuUs['not read']);
    const serve = quantile(cpuUs.serve);
    for (const [reader, values] of Object.entries(cpuUs)) {
      rows.push({
        work,
        reader,
        us: quantile(values),
        ofPlain: quantile(values) / plain,
        ofServe: quantile(values) / serve,
      });
    }
  }
  return rows;
}

/** Runs an agent to its end, below a command. Writes its times in user and kernel mode, in seconds, to a file. */
function moved(directory, below, times, flags) {
  const agent = path.join(ROOT, 'native/build/transfer-source');
  const given = Object.entries(RING).flatMap(([name, value]) => [`--${name}`, value]);
  const script = `TIMEFORMAT='%U %S'; { time "$@" --dir "${directory}" > /dev/null 2>&1; } 2> ${times}`;
  const words = [...below, 'bash', '-c', script, 'bash', agent, ...given, ...flags].map(String);
  execFileSync(words[0], words.slice(1), { stdio: 'ignore' });
}

export function caseOf({ work, reader }) {
  return `${work}: ${reader}`;
}

export function columnsOf({ us, ofPlain, ofServe }) {
  return { 'CPU of a transfer, us': round(us, 3), 'times not read': round(ofPlain), 'times serve': round(ofServe) };
}

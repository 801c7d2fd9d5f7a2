/** Events per second that `nixl-otel read` prints to /dev/null while it observes a large ring. */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { inDirectory, MAIN, medianOf, nodeMs, quantile, round } from './support/measure.mjs';
import { fullRing } from './support/transfers.mjs';

export const title = 'nixl-otel read to /dev/null; text: blocks as the readers in NIXL print them';

const FORMATS = ['json', 'line', 'csv', 'text'];

export function run({ quick }) {
  const capacity = quick ? 2 ** 16 : 2 ** 21;
  const runs = quick ? 1 : 5;
  return inDirectory(async (directory) => {
    const nothing = openSync('/dev/null', 'w');
    const rows = [];
    const emptyNodeMs = await medianOf(runs, () => nodeMs(['-e', '0']));
    for (const wireVersion of quick ? [4] : [4, 1]) {
      const file = path.join(directory, `v${wireVersion}`);
      const events = fullRing(file, wireVersion, capacity);
      const catMs = await medianOf(runs, () =>
        elapsed(() => execFileSync('cat', [file], { stdio: ['ignore', nothing] })),
      );
      const small = path.join(directory, `small${wireVersion}`);
      fullRing(small, wireVersion, 8);
      for (const format of quick ? ['json'] : FORMATS) {
        const read = (...args) => nodeMs([MAIN, 'read', '--format', format, ...args], ['ignore', nothing, 'ignore']);
        // In rounds: the other load of the machine changes from second to second.
        const rounds = [];
        for (let run = 0; run <= runs; run++) {
          const startMs = read(small);
          rounds.push({ startMs, readMs: read(file) - startMs, summaryMs: read('--summary', file) - startMs });
        }
        const median = (ms) => quantile(rounds.slice(1).map(ms));
        const startMs = median((round) => round.startMs);
        const readMs = median((round) => round.readMs);
        const timesSummary = median((round) => round.summaryMs / round.readMs);
        rows.push({ wireVersion, format, events, readMs, timesSummary, startMs, emptyNodeMs, catMs });
      }
    }
    closeSync(nothing);
    return rows;
  });
}

export function caseOf({ wireVersion, format, events }) {
  return `v${wireVersion}, ${format}, ${events} events`;
}

export function columnsOf({ events, readMs, timesSummary, startMs, emptyNodeMs, catMs }) {
  return {
    'million events/s': round(events / readMs / 1000),
    'ms to read': round(readMs, 0),
    'times, --summary': round(timesSummary),
    'ms to start': round(startMs, 0),
    'ms, empty Node': round(emptyNodeMs, 0),
    'ms, cat of the ring': round(catMs, 0),
  };
}

function elapsed(work) {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

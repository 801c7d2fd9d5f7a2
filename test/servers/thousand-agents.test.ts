/** Agents that come and go in batches: what a consumer keeps of them. test/e2e/live.test.ts has fewer of them. */
import { expect, test } from 'vitest';
import { dist, resultOf } from '../support/child.js';
import { temporaryDirectory, transferSourcePath } from '../support/live.js';

test('a thousand agents with fresh names, one after another, leave nothing behind', async () => {
  // On a very busy machine an agent can end before the collector sees its process. The idle TTL releases such agents.
  const result = await resultOf<{
    counted: number;
    written: number;
    most: number;
    fds: number[];
    usedMb: number[];
  }>(
    `
    import { execFile } from 'node:child_process';
    import { readdirSync } from 'node:fs';
    import { promisify } from 'node:util';
    const { openSource, tallyOptions } = await import(${JSON.stringify(dist('shm-bridge/index.js'))}).then(async (bridge) => ({
      ...bridge, ...(await import(${JSON.stringify(dist('mapping/index.js'))})),
    }));
    const source = openSource({ directories: [arg.directory], tally: tallyOptions(), deadTtlMs: 0, idleTtlMs: 3000 });
    const reader = source.openReader();
    // Memory in use: V8 reserves more, in steps of megabytes.
    const used = () => {
      const { rss, heapTotal, heapUsed } = process.memoryUsage();
      return (rss - heapTotal + heapUsed) / 2 ** 20;
    };
    const looks = { fds: [], usedMb: [] };
    const counts = new Map();
    let written = 0;
    let most = 0;
    const look = () => {
      source.drainNow();
      const { agents } = reader.snapshot();
      most = Math.max(most, agents.length);
      for (const { id, events } of agents) counts.set(id, events.reduce((sum, { count }) => sum + count, 0));
      return agents.length;
    };
    for (let batch = 0; batch < 12; batch++) {
      const flags = ['--agents', '100', '--transfers', '5', '--rate', '8', '--name', 'fresh-' + batch];
      const { stdout } = await promisify(execFile)(arg.program, ['--dir', arg.directory, ...flags]);
      written += JSON.parse(stdout.trim().split('\\n').at(-1)).totals.written;
      while (look() > 0) await new Promise((resolve) => setTimeout(resolve, 20));
      looks.fds.push(readdirSync('/proc/self/fd').length);
      // A single measurement can include some megabytes that a busy machine has not yet collected.
      let least = Infinity;
      for (let i = 0; i < 5; i++) {
        globalThis.gc();
        least = Math.min(least, used());
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      looks.usedMb.push(least);
    }
    console.log(JSON.stringify({ counted: [...counts.values()].reduce((a, b) => a + b, 0), agents: counts.size, written, most, ...looks }));
    source.close();
  `,
    { directory: temporaryDirectory(), program: transferSourcePath },
  );
  expect(result).toMatchObject({ agents: 1200, counted: result.written });
  expect(result.written).toBeGreaterThan(1200 * 5 * 4);
  expect(result.most).toBeLessThanOrEqual(100);
  expect(Math.max(...result.fds.slice(1)) - result.fds[1]!).toBeLessThanOrEqual(2);
  // The heaps have reached the size for one batch by then. Four hundred agents that were not released would need 8 MB more.
  const growth = Math.min(...result.usedMb.slice(-2)) - Math.max(...result.usedMb.slice(3, 7));
  expect(growth, String(result.usedMb)).toBeLessThan(7);
});

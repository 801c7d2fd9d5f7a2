/** The column of ways in `list --sizes`. */
import { expect, it } from 'vitest';
import { type ListedSizes, sizeObjects, sizeTable } from '../../../src/cli/list/size-lines.js';
import type { Way } from '../../../src/way/way.js';

const none = { classes: [], recent: [], model: { kind: 'none', reason: 'none' }, endedInPost: 0 } as never;
const moved = {
  ...(none as object),
  classes: [{ upToBytes: 4096, transfers: 100, bytes: 409_600, meanBytes: 4096, p50Us: 10, p99Us: 20, few: false }],
} as never;
const tcp: Way = { kind: 'tcp', ports: ['eth0'], windows: 9, sure: 'certain', sinceMs: 0 };
const unknown: Way = { kind: 'unknown', ports: [], windows: 0, sure: 'unknown', sinceMs: 0, why: 'young' };

function listed(agent: string, way?: ListedSizes['way']): ListedSizes {
  return { agent, name: agent, directory: '/rings', takenMs: 0, tx: moved, rx: none, ...(way && { way }) };
}

it('is there once a way is known, and names those that are not', () => {
  const [heading, ...lines] = sizeTable([listed('a', { tx: tcp }), listed('b', { tx: unknown }), listed('c')]);
  expect(heading).toMatch(/ WAY$/);
  expect(lines.find((line) => line.startsWith('a '))).toMatch(/ tcp by eth0$/);
  expect(lines.find((line) => line.startsWith('b '))).toMatch(/ unknown$/);
  expect(lines.find((line) => line.startsWith('c '))).not.toMatch(/unknown/);
  expect(sizeTable([listed('c')])[0]).not.toContain('WAY');
  expect(sizeObjects([listed('a', { tx: tcp }), listed('b', { tx: unknown })]).map(({ way }) => way)).toEqual(
    expect.arrayContaining(['tcp by eth0', undefined]),
  );
});

it('has the rate as a share of that of the ports below the classes, and in the object of the line', () => {
  const model = { kind: 'line', baseUs: 19, bytesPerSecond: 20.5e9, classes: 3, outlying: [], fitted: {} };
  const agent = { ...listed('a', { tx: tcp }), tx: { ...(moved as object), model, portShare: 0.41 } as never };
  expect(sizeTable([agent]).join('\n')).toContain("19 µs + size ÷ 20.5 GB/s (41% of its ports' rate)");
  expect(sizeObjects([agent]).at(-1)).toMatchObject({ type: 'line', bytesPerSecond: 20.5e9, portShare: 0.41 });
});

/** The history of real serves, over a kill and a clean stop. */
import path from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { RingWriter } from '../../../src/shm-bridge/index.js';
import type { HistoryAnswer } from '../../../src/view/answers/history-answer.js';
import { pushAll } from '../../support/rings.js';
import { start, temporaryDirectory } from '../command.js';

/** An event of bytes that were written. */
const TX_BYTES = { type: 0, value: 1_000_000n };

async function served(directory: string, ...flags: readonly string[]) {
  const serve = start(['serve', '--dir', directory, '--port', '0', '--drain-interval', '20', ...flags]);
  const [, url] = await serve.says(/serves (http:\/\/[^/]+)\/metrics/);
  const history = async (): Promise<HistoryAnswer> =>
    (await (await fetch(`${url!}/api/v1/history?agents=all`)).json()) as HistoryAnswer;
  return { serve, history };
}

function movingAgent(directory: string) {
  const writer = new RingWriter(path.join(directory, 'tp0'), { wireVersion: 4, capacity: 64 });
  onTestFinished(() => writer.close());
  return () => pushAll(writer, [TX_BYTES]);
}

const moved = ({ fleet }: HistoryAnswer): number => fleet.tx.filter((rate) => rate !== null && rate > 0).length;

it.each(['SIGKILL', 'SIGTERM'] as const)('keeps it over %s, with the blind span', async (signal) => {
  const directory = temporaryDirectory();
  const move = movingAgent(directory);
  const first = await served(directory);
  const file = path.join(directory, '.nixl-otel', '.serve', 'history.json');
  const kept = () => (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as HistoryAnswer) : undefined);
  // SIGTERM writes the file, SIGKILL leaves the last one.
  const past = async () => (signal === 'SIGTERM' ? await first.history() : kept());
  await expect.poll(async () => (move(), (await past())?.agents.length)).toBe(1);
  const { timesMs: before } = await first.history();
  await first.serve.stop(signal);

  const next = await served(directory);
  await expect.poll(async () => (await next.history()).blindSpans).toHaveLength(1);
  const { timesMs, fleet, blindSpans, agents } = await next.history();
  const { fromMs, toMs } = blindSpans![0]!;
  expect(before).toContain(timesMs[1]);
  expect(moved(await next.history())).toBeGreaterThan(1);
  expect(toMs).toBeGreaterThan(fromMs);
  expect(timesMs.filter((time) => time > fromMs && time < toMs)).toEqual([]);
  expect(fleet.tx[timesMs.indexOf(toMs)]).toBeNull();
  expect(agents).toHaveLength(1);
  if (signal === 'SIGTERM') expect(before.every((time) => time > toMs || timesMs.includes(time))).toBe(true);
});

it('keeps none with --state off', async () => {
  const directory = temporaryDirectory();
  const move = movingAgent(directory);
  const first = await served(directory, '--state', 'off');
  await expect.poll(async () => (move(), moved(await first.history()))).toBeGreaterThan(1);
  await first.serve.stop();
  expect(existsSync(path.join(directory, '.nixl-otel', '.serve'))).toBe(false);
  const next = await served(directory, '--state', 'off');
  expect((await next.history()).blindSpans).toEqual([]);
});

/** read, on real rings in real processes. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import type { Totals } from '../support/live.js';
import { run, start, startTransferSource, temporaryDirectory } from './command.js';
import { runHere } from './in-process.js';

const AT = 1_700_000_000_123_456n; // 2023-11-14 22:13:20.123456 UTC

/** A ring of wire version 1 with three events, named agent. */
function namedRing(directory = temporaryDirectory()): string {
  const file = path.join(directory, 'agent');
  const writer = new RingWriter(file, { wireVersion: 1 });
  writer.push({ timestampUs: AT, category: 1, name: 'agent_tx_bytes', value: 2n ** 64n - 1n });
  writer.push({ timestampUs: AT + 1n, category: 4, name: 'NIXL_ERR_BACKEND', value: 1n });
  writer.push({ timestampUs: AT + 1_000_000n, category: 5, name: 'agent_xfer_time', value: 20_000n });
  writer.close();
  return file;
}

const BLOCK = (time: string, category: string, event: string, value: string) => [
  '',
  '=== NIXL Telemetry Event ===',
  `Timestamp: ${time}`,
  `Category: ${category}`,
  `Event: ${event}`,
  `Value: ${value}`,
  '===========================',
];

describe('nixl-otel read', () => {
  it("prints the blocks that NIXL's readers print, in local time", async () => {
    const { code, stdout, stderr } = await run(['read', namedRing()], { TZ: 'Asia/Kolkata' });
    expect(stdout.split('\n')).toEqual([
      ...BLOCK('2023-11-15 03:43:20.123456', 'TRANSFER', 'agent_tx_bytes', '18446744073709551615'),
      ...BLOCK('2023-11-15 03:43:20.123457', 'ERROR', 'NIXL_ERR_BACKEND', '1'),
      ...BLOCK('2023-11-15 03:43:21.123456', 'PERFORMANCE', 'agent_xfer_time', '20000'),
      '',
    ]);
    expect(stderr).toContain('3 of 3 events printed, from 1 ring');
    expect(code).toBe(0);
  });

  it.each([
    ['line', '2023-11-14 22:13:20.123456Z agent TRANSFER agent_tx_bytes 18446744073709551615'],
    [
      'json',
      '{"agent":"agent","timestamp":"2023-11-14T22:13:20.123456Z","category":"TRANSFER","event":"agent_tx_bytes","value":18446744073709551615}',
    ],
    ['csv', 'agent,timestamp,arrived,category,event,value'],
  ])('speaks %s', async (format, first) => {
    const { stdout } = await runHere(['read', '--utc', '--format', format, namedRing()]);
    expect(stdout.split('\n')[0]).toBe(first);
    expect(stdout.trim().split('\n')).toHaveLength(format === 'csv' ? 4 : 3);
  });

  it.each([
    [['--errors'], ['NIXL_ERR_BACKEND']],
    [
      ['--event', 'agent_*'],
      ['agent_tx_bytes', 'agent_xfer_time'],
    ],
    [['--event', 'agent_t?_bytes', '--event', 'nothing'], ['agent_tx_bytes']],
    [['--slow', '20ms'], ['agent_xfer_time']],
    [['--slow', '20.1ms'], []],
    [
      ['--max-events', '2'],
      ['agent_tx_bytes', 'NIXL_ERR_BACKEND'],
    ],
  ])('filters with %j', async (flags, events) => {
    const { stdout } = await runHere(['read', '--format', 'json', ...flags, namedRing()]);
    const found = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { event: string }).event);
    expect(found).toEqual(events);
  });

  it('observes whole batches for any limit of events, but drains no more than the limit', async () => {
    const file = namedRing();
    const flags = ['--errors', '--max-events', '1', '--format', 'json'];
    expect(await runHere(['read', ...flags, file])).toMatchObject({
      stdout: expect.stringMatching(/^\{.*NIXL_ERR_BACKEND.*\}\n$/) as string,
      stderr: expect.stringContaining('1 of 3 events printed') as string,
    });
    expect((await runHere(['read', '--consume', ...flags, file])).stderr).toContain('1 of 2 events printed');
    expect((await runHere(['read', '--format', 'json', file])).stdout).toMatch(/^\{.*agent_xfer_time.*\}\n$/);
  });

  it('drains nothing without --consume', async () => {
    const file = namedRing();
    for (const [flags, count] of [
      [[], 3],
      [[], 3],
      [['--consume', '--max-events', '2'], 2],
      [['--consume'], 1],
      [[], 0],
    ] as const) {
      const { stdout } = await runHere(['read', '--format', 'json', ...flags, file]);
      expect(stdout.split('\n').filter(Boolean)).toHaveLength(count);
    }
  });

  it('escapes names of any bytes', async () => {
    const file = path.join(temporaryDirectory(), 'agent');
    const writer = new RingWriter(file, { wireVersion: 1 });
    writer.push({ category: 3, name: '=cmd,"\u001b[2J\n\u0007', value: 1n });
    writer.close();
    for (const format of ['text', 'line', 'csv']) {
      const { stdout } = await runHere(['read', '--format', format, file]);
      for (const char of ['\u001b', '\u0007']) expect(stdout).not.toContain(char);
      expect(stdout).toContain('\\x1b[2J\\x0a\\x07');
    }
    const { stdout } = await runHere(['read', '--format', 'json', file]);
    expect(JSON.parse(stdout)).toMatchObject({ event: '=cmd,"\u001b[2J\n\u0007' });
  });

  it.each([['list'], ['read'], ['top', '--once', '--interval', '100']])(
    'shows names in JSON without harm: %s',
    async (command, ...flags) => {
      const directory = temporaryDirectory();
      const agent = 'a\u009b2J\u202eb';
      const writer = new RingWriter(path.join(directory, agent), { wireVersion: 1 });
      writer.push({ category: 3, name: agent, value: 1n });
      const json =
        command === 'read' ? ['--format', 'json', path.join(directory, agent)] : ['--json', '--dir', directory];
      const { code, stdout } = await run([command, ...flags, ...json]);
      for (const char of ['\u009b', '\u202e']) expect(stdout).not.toContain(char);
      const printed = JSON.parse(stdout) as { agent?: string; event?: string; agents?: { agent: string }[] };
      expect(printed.agent ?? printed.agents![0]!.agent).toBe(agent);
      if (command === 'read') expect(printed.event).toBe(agent);
      expect(code).toBe(0);
    },
  );

  it('follows live agents and agrees with them exactly', async () => {
    const directory = temporaryDirectory();
    const source = startTransferSource([
      '--dir',
      directory,
      '--exact-name',
      '--name',
      'a',
      '--seconds',
      '2',
      '--ready',
    ]);
    await source.says(/ready/);
    const reading = start(['read', '--follow', '--consume', '--format', 'json', path.join(directory, 'a')]);
    const { stdout: totals } = await source.ended;
    const { written, events } = (JSON.parse(totals.trim().split('\n').at(-1)!) as Totals).totals;
    const lines = () => reading.stdout.split('\n').filter(Boolean);
    await expect.poll(() => lines().length).toBe(written);
    expect(await reading.stop('SIGINT')).toMatchObject({ code: 0 });
    const bytes = lines()
      .map((line) => JSON.parse(line) as { event: string; value: number })
      .filter(({ event }) => event === 'agent_tx_bytes')
      .reduce((sum, { value }) => sum + value, 0);
    expect(String(bytes)).toBe(events['agent_tx_bytes']!.sum);
  });

  it('ends without an error when the reader of its output ends', async () => {
    const reading = start(['read', '--follow', namedRing()]);
    await reading.says(/Value/);
    reading.child.stdout!.destroy();
    reading.child.kill('SIGINT');
    expect(await reading.ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('EPIPE') as string });
  });

  it('reports the kind of problem by its exit code', async () => {
    const directory = temporaryDirectory();
    const text = path.join(directory, 'text');
    writeFileSync(text, 'this is a text, and a text is no ring at all, however long');
    expect((await runHere(['read', path.join(directory, 'nothing')])).code).toBe(3);
    expect((await runHere(['read', text])).code).toBe(4);
    const held = namedRing(directory);
    const serve = start(['serve', '--dir', directory, '--port', '0']);
    await serve.says(/serves/);
    await expect.poll(async () => (await runHere(['read', '--consume', held])).code).toBe(5);
    for (const time of ['soon', `${'9'.repeat(309)}us`, `${'9'.repeat(308)}s`]) {
      const { code, stderr } = await runHere(['read', '--slow', time, held]);
      expect(stderr).toContain('Allowed: a number and us, ms or s');
      expect(code).toBe(2);
    }
  });
});

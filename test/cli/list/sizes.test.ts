/** list --sizes, of a real serve and from its state files. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RingWriter } from '../../../src/shm-bridge/index.js';
import { pushAll } from '../../support/rings.js';
import { start, temporaryDirectory } from '../command.js';
import { runHere } from '../in-process.js';

const SIZES = [4096, 65_536, 1_048_576, 2 ** 31];

/** Events of a transfer that takes 15 us and as long as 20 GB/s need. */
const transfer = (bytes: number, type: 0 | 1) => [
  { type: 7, value: 3n },
  { type: 6, value: BigInt(15 + Math.round(bytes / 20_000)) },
  { type, value: BigInt(bytes) },
  { type: type === 0 ? 2 : 3, value: 1n },
];

/** Rings with so many transfers of each size: written, and read. */
function rings(agents: Readonly<Record<string, readonly [tx: number, rx: number]>>): string {
  const directory = temporaryDirectory();
  for (const [name, [tx, rx]] of Object.entries(agents)) {
    const writer = new RingWriter(path.join(directory, name), { wireVersion: 4, capacity: 4096 });
    onTestFinished(() => writer.close());
    for (const bytes of SIZES) {
      for (let i = 0; i < tx; i++) pushAll(writer, transfer(bytes, 0));
      for (let i = 0; i < rx; i++) pushAll(writer, transfer(bytes, 1));
    }
  }
  return directory;
}

async function served(directory: string, flags: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const serve = start(['serve', '--dir', directory, '--port', '0', ...flags], env);
  const [, url] = await serve.says(/serves (http:\/\/[^/]+)\/metrics/);
  return { serve, url: url! };
}

type Row = Readonly<Record<string, unknown>>;

async function objects(...args: string[]): Promise<Row[]> {
  const { stdout, stderr } = await runHere(['list', '--sizes', '--json', ...args]);
  expect(stderr).toBe('');
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row);
}

function timeless(rows: readonly Row[]): Row[] {
  return rows.map((row) => ({ ...row, takenMs: undefined }));
}

/** Waits until serve has counted all transfers of this agent. */
async function counted(url: string, transfers: number): Promise<Row[]> {
  let rows: Row[] = [];
  await expect
    .poll(async () => {
      rows = await objects('--url', url);
      return rows.reduce((sum, row) => sum + Number(row['transfers'] ?? 0), 0);
    })
    .toBe(transfers);
  return rows;
}

it('prints classes and lines of a serve, and the same later from its state', async () => {
  const directory = rings({ 'agent-10': [30, 5], 'agent-2': [30, 0] });
  const { serve, url } = await served(directory);
  const rows = await counted(url, 4 * 65);
  const about = { directory, takenMs: expect.any(Number) as number };
  const classes = (agent: string, direction: string, transfers: number) =>
    SIZES.map((bytes) => ({
      type: 'class',
      ...{ agent, direction, ...about },
      upToBytes: bytes > 2 ** 30 ? null : bytes,
      transfers,
      bytes: bytes * transfers,
      p50Us: expect.any(Number) as number,
      p99Us: expect.any(Number) as number,
      postP50Us: 3,
    }));
  const line = (agent: string) => {
    const [baseUs, bytesPerSecond] = [expect.closeTo(15, -0.5) as number, expect.any(Number) as number];
    return { type: 'line', agent, direction: 'tx', ...about, baseUs, bytesPerSecond };
  };
  expect(rows).toEqual([
    ...classes('agent-2', 'tx', 30),
    line('agent-2'),
    ...classes('agent-10', 'tx', 30),
    line('agent-10'),
    ...classes('agent-10', 'rx', 5),
  ]);
  const { bytesPerSecond, baseUs } = rows.find(({ type }) => type === 'line')!;
  expect(Number(bytesPerSecond) / 20e9).toBeCloseTo(1, 1);
  expect(Number(baseUs) / 15).toBeCloseTo(1, 1);
  const asTable = await runHere(['list', '--sizes', '--url', url, '--filter', 'agent-10']);
  expect(asTable.stdout).toMatch(/^AGENT +DIR +UP TO +TRANSFERS +BYTES +P50 +P99 +POST P50\n/);
  expect(asTable.stdout).toMatch(/^agent-10 +tx +4 KiB +30 +123 kB +15 µs +15 µs +3 µs$/m);
  expect(asTable.stdout).toMatch(/^agent-10 +rx +over 1 GiB +5 +10\.7 GB .* few$/m);
  expect(asTable.stdout).toMatch(
    /^ {2}tx, (all so far|last \d+ s): 15 µs \+ size ÷ (19|20)\.\d GB\/s, .*; posting 3 µs$/m,
  );
  expect(asTable.stdout).toMatch(/^ {2}rx, .*: too few sizes; posting 3 µs$/m);
  expect(asTable.stdout).not.toContain('agent-2 ');
  await serve.stop('SIGKILL');
  const kept = await objects('--dir', directory);
  expect(timeless(kept)).toEqual(timeless(rows));
  expect(Number(kept[0]!['takenMs'])).toBeLessThanOrEqual(Number(rows[0]!['takenMs']));
  const table = await runHere(['list', '--sizes', '--dir', directory]);
  expect(table.stdout).toMatch(/^ {2}tx, all so far: 15 µs/m);
  expect(table.stdout.match(/^ {2}kept state of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/gm)).toHaveLength(2);
});

it('names the host of each agent if several were asked, and an agent without transfers', async () => {
  const [one, two] = [await served(rings({ agent: [1, 0] })), await served(rings({ idle: [0, 0] }))];
  await counted(one.url, 4);
  await expect.poll(async () => (await runHere(['list', '--sizes', '--url', two.url])).stdout).toMatch(/^idle +0$/m);
  const urls = ['--url', one.url, '--url', two.url];
  expect((await objects(...urls))[0]).toMatchObject({ agent: 'agent', host: new URL(one.url).host });
  const { stdout } = await runHere(['list', '--sizes', ...urls]);
  expect(stdout).toContain(`idle ${new URL(two.url).host} `);
});

it('says why there is nothing to print', async () => {
  const directory = rings({ agent: [1, 1] });
  const { url } = await served(directory, ['--page', 'off']);
  expect(await runHere(['list', '--sizes', '--url', `${url}/metrics`])).toMatchObject({
    code: 1,
    stderr: `nixl-otel: error: no time by size from ${url}: no such address: serve is older than this command, or has --page off\n`,
  });
  const other = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const foreign = await runHere(['list', '--sizes', '--url', `127.0.0.1:${port}`]);
  expect(foreign.stderr).toContain('the answer is not that of serve');
  const nobody = await runHere(['list', '--sizes', '--url', '127.0.0.1:1']);
  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('ECONNREFUSED') as string });
  const stateless = await runHere(['list', '--sizes', '--dir', rings({ agent: [1, 1] })]);
  expect(stateless).toMatchObject({ code: 3, stderr: expect.stringMatching(/no kept state of agents in /) as string });
});

it('reads the state of a serve that has other bounds of times', async () => {
  const directory = rings({ agent: [30, 0] });
  const { serve, url } = await served(directory, [], { NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US: '17,20,30' });
  const rows = await counted(url, 120);
  await serve.stop('SIGTERM');
  expect(timeless(await objects('--dir', directory))).toEqual(timeless(rows));
});

it.each([
  [['--watch'], /--sizes and --watch exclude each other: top shows/],
  [['--sort', 'fill'], /--sizes and --sort exclude each other/],
  [['--dir', '/tmp', '--url', 'a'], /--dir and --url exclude each other/],
  [['--url', 'ftp://a'], /'ftp:\/\/a' is invalid/],
  [['--user', 'a'], /--user needs --url/],
  [[], /no directory and no address: give --dir <dir> or --url <url>/],
])('refuses --sizes %j', async (flags, reason) => {
  expect(await runHere(['list', '--sizes', ...flags])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(reason) as string,
  });
});

it('refuses --url and its flags without --sizes', async () => {
  for (const [flags, reason] of [
    [['--url', 'a'], /--url needs --sizes/],
    [['--ca', '/a'], /--ca needs --url/],
  ] as const) {
    const refused = { code: 2, stderr: expect.stringMatching(reason) as string };
    expect(await runHere(['list', '--dir', '/tmp', ...flags])).toMatchObject(refused);
  }
});

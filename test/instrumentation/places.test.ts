/** Directories and globs without rings: one line in the log, and an entry among the problems. */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { diag, DiagLogLevel } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NixlInstrumentation, NixlMetricProducer, type NixlOptions } from '../../src/index.js';
import { NO_RINGS_AFTER_MS } from '../../src/instrumentation/feed/place-problems.js';
import { SourceFeed } from '../../src/instrumentation/feed/snapshot-feed.js';
import { tallyOptions } from '../../src/mapping/index.js';
import { openSource, RingWriter } from '../../src/shm-bridge/index.js';
import { startingEngines } from '../../src/shm-bridge/starting-engines.js';
import type { SourceOptions } from '../../src/shm-bridge/types.js';
import { RunningCommand, start, temporaryDirectory, until } from '../cli/command.js';
import { dist } from '../support/child.js';
import { compiledProgram } from '../support/preload.js';
import { ManualReader } from './readers.js';

let lines: string[];
let closers: (() => void)[];

beforeEach(() => {
  lines = [];
  closers = [];
  const warn = (...parts: unknown[]): void => void lines.push(parts.map(String).join(' '));
  const none = (): void => {};
  diag.setLogger({ warn, error: warn, info: none, debug: none, verbose: none }, DiagLogLevel.WARN);
  lines.length = 0;
});

afterEach(() => {
  for (const close of closers) close();
  diag.disable();
});

/** Ways to read the rings of a service. */
const WAYS: readonly (readonly [string, (options: NixlOptions) => ManualReader])[] = [
  [
    'a producer',
    (options) => {
      const producer = new NixlMetricProducer(options);
      closers.push(() => producer.close());
      const reader = new ManualReader(undefined, [producer]);
      new MeterProvider({ readers: [reader] });
      return reader;
    },
  ],
  [
    'the instrumentation',
    (options) => {
      const reader = new ManualReader();
      const instrumentation = new NixlInstrumentation(options);
      closers.push(() => instrumentation.disable());
      instrumentation.setMeterProvider(new MeterProvider({ readers: [reader] }));
      return reader;
    },
  ],
];

async function problemsIn(reader: ManualReader, label = 'state'): Promise<Record<string, unknown>> {
  const points = await reader.points('nixl.collector.problems');
  const found = points.filter(({ value }) => value !== 0).map(({ attributes, value }) => [attributes[label], value]);
  return Object.fromEntries(found) as Record<string, unknown>;
}

function writeRing(directory: string): void {
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
  writer.push({ type: 0, value: 1n });
  closers.push(() => writer.close());
}

describe.each(WAYS)('%s', (_, open) => {
  it('reports a missing directory once, until it exists', async () => {
    const directory = path.join(temporaryDirectory(), 'later');
    const reader = open({ directories: directory });
    expect(await problemsIn(reader)).toEqual({ absent: 1 });
    expect(await problemsIn(reader)).toEqual({ absent: 1 });
    expect(lines).toEqual([expect.stringContaining(`directory ${directory} is absent: it does not exist yet`)]);
    mkdirSync(directory);
    expect(await problemsIn(reader)).toEqual({});
    rmSync(directory, { recursive: true });
    expect(await problemsIn(reader)).toEqual({ absent: 1 });
    expect(lines).toHaveLength(1);
  });

  it('reports it in naming otel, too', async () => {
    const reader = open({ directories: '/no/such/directory', naming: 'otel' });
    expect(await problemsIn(reader, 'nixl.ring.state')).toEqual({ absent: 1 });
  });

  it('reports a relative directory, and its absolute path, until it has rings', async () => {
    const directory = temporaryDirectory();
    const relative = path.relative(process.cwd(), directory);
    const reader = open({ directories: relative });
    expect(await problemsIn(reader)).toEqual({ relative: 1 });
    expect(lines).toEqual([expect.stringContaining(`directory ${directory} is relative: it was given as ${relative}`)]);
    writeRing(directory);
    expect(await problemsIn(reader)).toEqual({});
    expect(lines).toHaveLength(1);
  });

  it('reports a relative, missing directory in one line', async () => {
    const reader = open({ directories: 'no/such/directory' });
    expect(await problemsIn(reader)).toEqual({ absent: 1 });
    expect(lines).toEqual([
      expect.stringMatching(/\/no\/such\/directory is absent: .*given as no\/such\/directory, which is relative/),
    ]);
  });

  it('reports a file in the place of a directory', async () => {
    const file = path.join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const reader = open({ directories: [file, path.join(file, 'below')] });
    expect(await problemsIn(reader)).toEqual({ corrupt: 2 });
    expect(lines).toEqual([
      expect.stringContaining(`directory ${file} is corrupt: not a directory; name the directory`),
      expect.stringContaining(`directory ${file}/below is corrupt: not a directory`),
    ]);
  });

  it('reports the missing directory of a glob', async () => {
    const reader = open({ globs: '/no/such/directory/agent-*' });
    expect(await problemsIn(reader)).toEqual({ absent: 1 });
    expect(lines).toHaveLength(1);
  });
});

/** Makes a feed of a real source, with a clock that the test sets. */
function feedAt(options: Omit<SourceOptions, 'tally'>): { feed: SourceFeed; after: (ms: number) => void } {
  let now = 0;
  const logger = diag.createComponentLogger({ namespace: 'test' });
  const source = openSource({ ...options, tally: tallyOptions() });
  const feed = new SourceFeed(source, logger, { now: () => now });
  closers.push(() => feed.close());
  return { feed, after: (ms) => void (now = ms) };
}

describe('a place without rings', () => {
  it.each([
    ['a directory', (directory: string) => ({ directories: [directory] }), 'there are no files'],
    ['a glob that matches nothing', (directory: string) => ({ globs: [`${directory}/agent-*`] }), 'no file matches'],
  ])('is reported after a while: %s', async (_, options, reason) => {
    const directory = temporaryDirectory();
    const { feed, after } = feedAt(options(directory));
    after(NO_RINGS_AFTER_MS - 1);
    expect((await feed.collect({}))!.problems).toEqual([]);
    after(NO_RINGS_AFTER_MS);
    for (let i = 0; i < 2; i++) {
      expect((await feed.collect({}))!.problems).toMatchObject([{ state: 'no_rings' }]);
    }
    expect(lines).toEqual([expect.stringMatching(new RegExp(`no rings in ${directory}\\S*: ${reason} after 30 s`))]);
    const writer = new RingWriter(path.join(directory, 'agent-1'), { wireVersion: 4, capacity: 64 });
    closers.push(() => writer.close());
    expect((await feed.collect({}))!.problems).toEqual([]);
    // A place that once had rings is the right one: all agents may have ended.
    rmSync(path.join(directory, 'agent-1'));
    expect((await feed.collect({}))!.problems).toEqual([]);
    expect(lines).toHaveLength(1);
  });

  it('is reported with the engines that start, and again once none does', async () => {
    const directory = temporaryDirectory();
    const { feed, after } = feedAt({ directories: [directory] });
    const program = path.join(temporaryDirectory(), 'vllm');
    symlinkSync(compiledProgram('engine.c'), program);
    const environment = { WORKERS: '', NIXL_TELEMETRY_DIR: directory };
    const engine = new RunningCommand(program, ['serve', 'org/model'], environment);
    await until(() => startingEngines(directory) !== undefined);
    after(NO_RINGS_AFTER_MS);
    await feed.collect({});
    await engine.stop('SIGKILL');
    await until(() => startingEngines(directory) === undefined);
    after(2 * NO_RINGS_AFTER_MS);
    await feed.collect({});
    expect(lines).toEqual([
      expect.stringContaining('there are no files after 30 s; 1 vLLM instance is starting: an engine makes its agents'),
      expect.stringContaining('there are no files after 30 s; agents write rings with'),
    ]);
  });

  it('is reported if its files are no rings', async () => {
    const directory = temporaryDirectory();
    for (const name of ['a', 'b']) writeFileSync(path.join(directory, name), 'this is no ring, but some other text');
    const { feed, after } = feedAt({ directories: [directory] });
    after(NO_RINGS_AFTER_MS);
    await feed.collect({});
    expect(lines).toEqual([expect.stringContaining('none of its 2 files is a ring')]);
  });
});

it('serve reports each place once, and a directory without permission', async () => {
  const parent = temporaryDirectory();
  const closed = path.join(parent, 'closed');
  mkdirSync(closed);
  chmodSync(closed, 0);
  const dirs = ['--dir', closed, '--dir', path.join(parent, 'absent')];
  const serve = start(['serve', ...dirs, '--port', '0']);
  await serve.says(/directory \S*absent is absent/);
  const isRoot = process.getuid!() === 0;
  if (!isRoot) await serve.says(/directory \S*closed is denied: Permission denied/);
  const [, url] = await serve.says(/serves (http:\S+) from/);
  const ready = await (await fetch(new URL('/readyz', url))).text();
  expect(ready).toContain('absent" is absent: it does not exist yet');
  const { stderr } = await serve.stop('SIGTERM');
  expect(stderr.match(/is absent/g)).toHaveLength(1);
});

it('serve accepts a relative flag, but warns of a relative variable', async () => {
  const byFlag = start(['serve', '--dir', 'no-such-rings', '--port', '0']);
  await byFlag.says(/no-such-rings is absent/);
  expect((await byFlag.stop()).stderr).not.toContain('relative');
  const byVariable = start(['serve', '--port', '0'], { NIXL_TELEMETRY_DIR: 'no-such-rings' });
  await byVariable.says(/no-such-rings is absent: .*relative/);
});

it('a service with /register gets the warning even without a collect', async () => {
  const service = `
    import { diag, DiagLogLevel, metrics } from '@opentelemetry/api';
    import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
    class Reader extends MetricReader { async onShutdown() {} async onForceFlush() {} }
    const warn = (...parts) => { console.log(parts.join(' ')); process.exit(0) };
    diag.setLogger({ warn, error: warn, info() {}, debug() {}, verbose() {} }, DiagLogLevel.WARN);
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [new Reader()] }));
    setInterval(() => {}, 1000);`;
  const args = ['--import', dist('register.js'), '--input-type=module', '-e', service];
  const { code, stdout } = await new RunningCommand(process.execPath, args, { NIXL_TELEMETRY_DIR: '/no/such/rings' })
    .ended;
  expect(stdout).toContain('directory /no/such/rings is absent');
  expect(code).toBe(0);
});

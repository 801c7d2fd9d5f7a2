/**
 * Calls all exports of the package, and those of room 1, with unexpected values: each works or throws a NixlTelemetryError
 * with a message. A new export is called automatically; a new class needs a row in INSTANCES.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { diag, metrics } from '@opentelemetry/api';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import * as main from '../src/index.js';
import { tallyOptions } from '../src/mapping/index.js';
import * as rings from '../src/rings.js';
import * as bridge from '../src/shm-bridge/index.js';
import * as testing from '../src/testing.js';

const ENTRIES = { '.': main, './rings': rings, './testing': testing, 'room 1': bridge } as const;
const { NixlTelemetryError } = main;
const { RingWriter } = rings;

const directory = mkdtempSync(path.join(tmpdir(), 'nixl-otel-test-'));
/** Holds rings that no source drains: a drained ring cannot be opened. */
const opened = mkdtempSync(path.join(tmpdir(), 'nixl-otel-test-'));
afterAll(() => {
  for (const one of [directory, opened]) rmSync(one, { recursive: true, force: true });
});
new RingWriter(path.join(directory, 'drained'), { wireVersion: 4, capacity: 64 }).close();

const undo: (() => void)[] = [];
afterEach(() => {
  while (undo.length > 0) undo.pop()!();
});

let files = 0;
function ringFile(): string {
  const file = path.join(opened, `ring-${files++}`);
  new RingWriter(file, { wireVersion: 4, capacity: 64 }).close();
  return file;
}

const cyclic: Record<string, unknown> = {};
cyclic['self'] = cyclic;

/** Values that callers without types may pass. A text may be used as a path. */
const VALUES: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  -1,
  1.5,
  NaN,
  2 ** 60,
  5n,
  '',
  path.join(directory, 'text'),
  Symbol('s'),
  {},
  [],
  [null],
  [{}],
  Object.create(null),
  cyclic,
  () => ({}),
];

/** Right arguments, of which one part at a time is replaced. Exports with simple arguments, or without any, need no row. */
const ARGUMENTS: Readonly<Record<string, () => unknown[]>> = {
  MetricProcessor: () => [
    {
      builders: ['records', { name: 'own', create() {} }],
      attributes: [{ name: 'a', source: { constant: 'b' } }],
      hostname: 'h',
      onError: () => {},
    },
  ],
  NixlInstrumentation: () => [{ directories: directory, builders: ['nixl'], enabledMetrics: ['*'] }],
  NixlMetricProducer: () => [{ directories: [directory], customEvents: [{ event: 'e', kind: 'gauge', name: 'n' }] }],
  NixlTelemetryError: () => ['CONFIG_INVALID', 'message', { path: '/p', cause: 'c' }],
  RingWriter: () => [path.join(directory, 'written'), { wireVersion: 4, capacity: 64 }],
  TestRings: () => [{ wireVersion: 1, capacity: 64 }],
  findWriters: () => [[ringFile()]],
  inspectRing: () => [ringFile(), { force: true }],
  observeRing: () => [ringFile(), { force: true }],
  observeTally: () => [ringFile(), tallyOptions(), { force: true }],
  openRing: () => [ringFile(), { force: true }],
  openSource: () => [
    {
      directories: [directory],
      globs: ['/none/*'],
      drainIntervalMs: 20,
      deadTtlMs: 1,
      idleTtlMs: 1,
      force: false,
      owners: [0],
      tally: tallyOptions({
        customEvents: [{ event: 'e', kind: 'histogram', name: 'n', category: 'BACKEND', bounds: [1] }],
      }),
      typeTap: { types: [6], capacity: 10 },
      eventTap: { capacity: 10 },
    },
  ],
  readAgentProcess: () => [process.pid, ['PATH'], '/proc'],
};

/** An instance of each class and of each object that a function returns. A method with several arguments needs right ones. */
const INSTANCES: Readonly<Record<string, () => object>> = {
  MetricProcessor: () => new main.MetricProcessor({ onError: () => {} }),
  NixlInstrumentation: () => new main.NixlInstrumentation({ directories: directory }),
  NixlMetricProducer: () => new main.NixlMetricProducer({ directories: directory }),
  NixlTelemetryError: () => new NixlTelemetryError('CONFIG_INVALID', 'message'),
  Ring: () => bridge.openRing(ringFile()),
  RingObserver: () => bridge.observeRing(ringFile()),
  RingWriter: () => new RingWriter(ringFile()),
  TallyingObserver: () => bridge.observeTally(ringFile(), tallyOptions()),
  TestRings: () => new testing.TestRings(),
  'a RingSource': source,
  'an EventTap of types': () => source().typeTap!,
  'an EventTap of all': () => source().eventTap!,
  'a SnapshotReader': () => source().openReader(),
};

const METHOD_ARGUMENTS: Readonly<Record<string, () => unknown[]>> = {
  push: () => [{ type: 1, name: 'n', category: 1, value: 1n, timestampUs: 1n }],
  write: () => ['agent', { bytes: 1, timeUs: 1, postUs: 1, direction: 'rx' }, { event: 'agent_xfer_time', value: 1 }],
  observe: () => [[{ agent: 'a', event: 'e', category: 'c', count: 1, sum: 1n, attributes: { a: 'b' } }]],
  process: () => [{ action: 'a' }, { a: 'b' }],
  create: () => [metrics.getMeter('test')],
  useMeter: () => [metrics.getMeter('test')],
  addBuilder: () => [{ name: 'own', create() {}, observe() {} }],
  setMeterProvider: () => [metrics.getMeterProvider()],
  setConfig: () => [{ directories: directory, naming: 'otel' }],
  metricProducer: () => [{ temporality: 'delta', histograms: 'exponential', naming: 'otel', hostname: 'h' }],
  openTypeTap: () => [{ types: [6], capacity: 1 }],
  openEventTap: () => [{ capacity: 1 }],
};

function source(): bridge.RingSource {
  const made = bridge.openSource({
    directories: [directory],
    tally: tallyOptions(),
    typeTap: { types: [6] },
    eventTap: {},
  });
  undo.push(() => made.close());
  return made;
}

/** Yields the right arguments with each part, at any depth, replaced by each of the values, and with each argument left out. */
function* spoiled(right: () => unknown[], depth = 4): Generator<unknown[]> {
  for (const place of placesIn(right(), depth)) {
    for (const value of VALUES) {
      const given = right();
      put(given, place, value);
      yield given;
    }
  }
}

function placesIn(value: unknown, depth: number): (string | number)[][] {
  const isPlain =
    Array.isArray(value) ||
    (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype);
  if (!isPlain || depth === 0) return [];
  // The first parts represent all of them.
  const entries = Object.entries(value as object).slice(0, 8);
  return entries.flatMap(([key, part]) => [[key], ...placesIn(part, depth - 1).map((rest) => [key, ...rest])]);
}

function put(into: unknown, [key, ...rest]: (string | number)[], value: unknown): void {
  const parent = into as Record<string | number, unknown>;
  if (rest.length === 0) {
    parent[key!] = value;
    return;
  }
  // A copy, because parts of the table are read-only.
  parent[key!] = structuredCloneOf(parent[key!]);
  put(parent[key!], rest, value);
}

function structuredCloneOf(value: unknown): unknown {
  return Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) };
}

function* calls(right: (() => unknown[]) | undefined): Generator<unknown[]> {
  yield [];
  for (const value of VALUES) yield [value];
  if (right === undefined) return;
  for (const first of VALUES) for (const second of [null, 'text', {}]) yield [first, second];
  yield* spoiled(right);
}

/** Calls an export and closes its result. @throws Error unless the call worked or gave a reason. */
async function attempt(what: string, args: readonly unknown[], call: () => unknown): Promise<void> {
  try {
    const made = (await call()) as { close?: () => void; disable?: () => void } | undefined;
    if (made !== null && typeof made === 'object') {
      made.disable?.();
      if (what !== 'RingWriter' || made instanceof RingWriter) made.close?.();
    }
  } catch (error) {
    if (error instanceof NixlTelemetryError && error.message !== '') return;
    throw new Error(`${what}(${args.map(inWords).join(', ')}) throws ${String(error)}`, { cause: error });
  }
}

function inWords(value: unknown): string {
  try {
    return typeof value === 'function' ? 'function' : (JSON.stringify(value) ?? String(value));
  } catch {
    return typeof value;
  }
}

function isClass(value: unknown): value is new (...args: unknown[]) => object {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
}

/** Returns the methods that the package defines, without those of OpenTelemetry's base classes. */
function methodsOf(instance: object): string[] {
  const own = Object.values<unknown>({ ...main, ...bridge, ...testing }).filter(isClass);
  const names = new Set(Object.keys(instance));
  for (
    let type = Object.getPrototypeOf(instance) as object;
    type !== null;
    type = Object.getPrototypeOf(type) as object
  ) {
    const isOurs = own.some((one) => (one.prototype as unknown) === type) || type.constructor.name === 'NativeSource';
    if (isOurs) for (const name of Object.getOwnPropertyNames(type)) names.add(name);
  }
  return [...names].filter((name) => name !== 'constructor' && !name.startsWith('_'));
}

diag.disable();

describe.each(Object.entries(ENTRIES))('of %s', (_, entry) => {
  const exported = Object.entries(entry as Record<string, unknown>);

  it.each(exported.filter(([, value]) => typeof value === 'function'))('%s', async (name, value) => {
    for (const args of calls(ARGUMENTS[name] ?? (() => ['text', 'text', 'text']))) {
      await attempt(name, args, () =>
        isClass(value) ? new value(...args) : (value as (...args: unknown[]) => unknown)(...args),
      );
    }
  });

  it.each(exported.filter(([, value]) => isClass(value)).map(([name]) => name))('%s has a row here', (name) => {
    expect(INSTANCES[name], `INSTANCES needs a row for ${name}`).toBeDefined();
  });
});

describe.each(Object.entries(INSTANCES))('%s', (name, make) => {
  const methods = methodsOf(make());
  undo.pop()?.();

  it.each(methods.length === 0 ? ['(none)'] : methods)('%s', async (method) => {
    for (const args of calls(METHOD_ARGUMENTS[method])) {
      const instance = make() as Record<string, unknown>;
      await attempt(`${name}.${method}`, args, () => {
        const member = instance[method];
        return typeof member === 'function'
          ? (member as (...args: unknown[]) => unknown).apply(instance, args)
          : member;
      });
      for (const close of ['disable', 'close']) (instance[close] as (() => void) | undefined)?.call(instance);
      while (undo.length > 0) undo.pop()!();
    }
  });
});

it('all entry points with code are tested', () => {
  const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    exports: Record<string, unknown>;
  };
  const withCode = Object.keys(exports).filter((name) => !name.endsWith('.json') && name !== './register');
  expect(Object.keys(ENTRIES)).toEqual(expect.arrayContaining(withCode));
});

/** Interface version of C++ and TypeScript: a binary or a stream of another version is an error, not a wrong number. */
import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { tallyOptions, TransferEvent } from '../../src/mapping/index.js';
import { addon, INTERFACE_VERSION, loadFirst, type RawSnapshot, type RawTotals } from '../../src/shm-bridge/addon.js';
import { findNativeFile } from '../../src/shm-bridge/native-files.js';
import { rawTally } from '../../src/shm-bridge/raw-tally.js';
import { decodeSnapshot, decodeTally } from '../../src/shm-bridge/snapshot.js';
import {
  AGENT_WORDS,
  CLASS_WORDS,
  DIRECTION_WORDS,
  DISTRIBUTION_WORDS,
  EVENT_WORDS,
  HISTOGRAM_WORDS,
  TALLY_WORDS,
} from '../../src/shm-bridge/word-table.js';
import { atOnce } from '../../src/ground/time-slices.js';
import { dist, runProgram } from '../support/child.js';
import { temporaryDirectory } from '../support/live.js';
import { eventsFor, writeRing } from '../support/rings.js';

const { XFER_TIME, XFER_POST_TIME } = TransferEvent;
const OTHER = INTERFACE_VERSION + 1;
const TALLY = rawTally(tallyOptions());

afterEach(() => void vi.unstubAllEnvs());

/** Compiles a native part with another interface version. */
function otherBuild(): string {
  const file = path.join(temporaryDirectory(), 'other.node');
  const source = fileURLToPath(new URL('../support/other-version.c', import.meta.url));
  const headers = fileURLToPath(new URL('../../node_modules/node-api-headers/include', import.meta.url));
  const flags = ['-x', 'c', '-shared', '-fPIC', '-Wall', '-Werror', '-isystem', headers, `-DOTHER_VERSION=${OTHER}`];
  execFileSync(process.env['CXX'] ?? 'c++', [...flags, '-o', file, source]);
  return file;
}

/** Makes a ring without durations: the exponential buckets of histograms have as many words as their values need. */
function ring(): string {
  const file = path.join(temporaryDirectory(), 'agent');
  const events = eventsFor(4).filter(({ type }) => type !== XFER_TIME && type !== XFER_POST_TIME);
  writeRing(file, 4, events);
  return file;
}

/** Opens a source on the addon itself. */
function rawSnapshot(): RawSnapshot {
  const places: [string, string][] = [[path.dirname(ring()), '']];
  const options = {
    drainIntervalMs: 20,
    deadTtlMs: 0,
    idleTtlMs: 0,
    force: false,
    owners: undefined,
    state: false,
    fill: false,
    removeEndedAfterMs: 0,
    freshNames: [],
  };
  const { source } = addon().openSource({ ...options, places, tally: TALLY }, []);
  onTestFinished(() => addon().closeSource(source));
  for (;;) {
    addon().drainNow(2000);
    const raw = addon().continueSnapshot(
      addon().beginSnapshot(source, 0, true, false, new BigUint64Array(0)),
      new ArrayBuffer(0),
      1,
    );
    if (typeof raw === 'object' && raw.agents === 1) return raw;
  }
}

function rawTotals(): RawTotals {
  const { handle } = addon().openObserver(ring(), false, TALLY);
  onTestFinished(() => addon().closeObserver(handle!));
  return addon().tallyOf(handle!);
}

const mismatch = new RegExp(`interface version ${OTHER}, and this package needs ${INTERFACE_VERSION}: rebuild it`);

test('a binary of another version is refused, and a later one that fits is found', () => {
  const other = otherBuild();
  expect(() => loadFirst([other])).toThrow(mismatch);
  expect(() => loadFirst([other])).toThrow(/build it with: .*; tried\n.*other\.node: the native part has /);
  expect(() => loadFirst([other])).toThrow(expect.objectContaining({ code: 'ADDON_MISSING', path: other }) as Error);
  const built = findNativeFile('nixl_otel.node');
  expect(loadFirst([other, built!]).interfaceVersion).toBe(INTERFACE_VERSION);
});

test('NIXL_OTEL_ADDON names the one file to load, and a wrong one is told with what is allowed', async () => {
  const built = findNativeFile('nixl_otel.node');
  const copy = path.join(temporaryDirectory(), 'copy of nixl_otel.node');
  cpSync(built!, copy);
  const text = path.join(temporaryDirectory(), 'text.node');
  writeFileSync(text, 'not a library');
  const other = otherBuild();
  const allowed = 'allowed: the path of nixl_otel\\.node of opentelemetry-instrumentation-nixl \\S+ for linux-';
  for (const [named, expected] of [
    [copy, /^absent$/],
    [path.relative(process.cwd(), copy), /^absent$/],
    ['', /^absent$/],
    ['/no/such.node', new RegExp(`^ADDON_MISSING NIXL_OTEL_ADDON is /no/such\\.node: no such file; ${allowed}`)],
    [text, new RegExp(`^ADDON_MISSING NIXL_OTEL_ADDON is ${text}: .*; ${allowed}`)],
    [other, new RegExp(`^ADDON_MISSING NIXL_OTEL_ADDON is ${other}: .*${mismatch.source}.*; ${allowed}`)],
  ] as const) {
    vi.stubEnv('NIXL_OTEL_ADDON', named);
    const { stdout } = await runProgram(`
      const { inspectRing } = await import('${dist('rings.js')}');
      try { console.log(inspectRing('/no/such/ring').state); } catch (error) { console.log(error.code, error.message); }`);
    expect(stdout.trim()).toMatch(expected);
  }
});

test.each([
  ['snapshot', rawSnapshot, (raw: RawTotals) => atOnce(decodeSnapshot(raw as RawSnapshot, TALLY, []))],
  ['tally', rawTotals, (raw: RawTotals) => decodeTally(raw, TALLY)],
])('a %s of another version is refused', (_, take, decode) => {
  const raw = take();
  expect(() => decode(raw)).not.toThrow();
  new BigUint64Array(raw.words)[0] = BigInt(OTHER);
  expect(() => decode(raw)).toThrow(mismatch);
});

test('the order of words is one', () => {
  expect(addon().wordOrder()).toEqual({
    agent: AGENT_WORDS,
    tally: TALLY_WORDS,
    event: EVENT_WORDS,
    histogram: HISTOGRAM_WORDS,
    direction: DIRECTION_WORDS,
    sizeClass: CLASS_WORDS,
    distribution: DISTRIBUTION_WORDS,
  });
});

/** If it fails: increment the version in native/addon/words.h and src/shm-bridge/addon.ts, then update this test. */
test('the interface has not changed without a new version', () => {
  const raw = rawSnapshot();
  const kinds = TALLY.types.filter(({ bounds }) => bounds !== undefined).length;
  const { agent, tally, event, histogram } = addon().wordOrder();
  /** Words of a histogram without values. */
  const buckets = (bounds: readonly number[]): number => bounds.length + 1 + histogram.length;
  const events = event.length * TALLY.types.length + kinds * (2 + buckets(TALLY.bounds[0]!));
  const direction = [TALLY.sizeBounds, TALLY.bounds[0]!, TALLY.throughputBounds].reduce(
    (n, all) => n + buckets(all),
    6,
  );
  const words = 1 + agent.length + tally.length + events + 2 * direction;
  // The exponential counts follow.
  expect(raw.words.byteLength / 8).toBeGreaterThan(words);
  expect({
    version: INTERFACE_VERSION,
    words,
    snapshot: Object.keys(raw).sort(),
    collector: Object.keys(raw.collector).sort(),
    exports: Object.keys(addon()).sort(),
  }).toMatchInlineSnapshot(`
    {
      "collector": [
        "drainIntervalMs",
        "lateTicks",
        "maxLagMs",
        "sinceTickMs",
        "ticks",
      ],
      "exports": [
        "addReader",
        "beginSnapshot",
        "closeObserver",
        "closeRing",
        "closeSource",
        "closeTap",
        "closeWriter",
        "continueSnapshot",
        "drainColumns",
        "drainNow",
        "fillPage",
        "findWriters",
        "holdSource",
        "inspectRing",
        "interfaceVersion",
        "isDrainServed",
        "keepAttributes",
        "lockDirectory",
        "lookAtRing",
        "makeTemplate",
        "observeAndTally",
        "observeColumns",
        "openObserver",
        "openRing",
        "openSource",
        "openTap",
        "openWriter",
        "pendingOf",
        "push",
        "readState",
        "recoveredCounts",
        "removeEndedRing",
        "removeReader",
        "requestDrain",
        "ringStats",
        "setSampling",
        "shareFreedMemory",
        "takeEvents",
        "takeTapped",
        "tallyOf",
        "tapStats",
        "wordOrder",
        "writerFault",
      ],
      "snapshot": [
        "agents",
        "collector",
        "openDirectories",
        "places",
        "problemCount",
        "problems",
        "stateLosses",
        "stateProblems",
        "strings",
        "takenMs",
        "words",
      ],
      "version": 21,
      "words": 372,
    }
  `);
});

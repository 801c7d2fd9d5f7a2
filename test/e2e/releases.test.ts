/**
 * Finds events and versions in rings that our tables lack. They show the changes of a new NIXL release: `NIXL_RINGS` names
 * a folder of its rings, see CONTRIBUTING.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { EVENTS } from '../../src/mapping/index.js';
import { inspectRing, observeRing } from '../../src/shm-bridge/index.js';
import { temporaryDirectory } from '../support/live.js';
import { eventsFor, WIRE_VERSIONS, writeRing } from '../support/rings.js';

const VERSION_AT = 16;

function strangersIn(file: string): string[] {
  const { state, reason } = inspectRing(file);
  if (state !== 'ready') return [reason];
  const observer = observeRing(file);
  const { events } = observer.observe();
  observer.close();
  // Wire version 1 has names, which plug-ins were free to choose.
  const types = events.flatMap(({ type }) => type ?? []).filter((type) => type >= EVENTS.length);
  return [...new Set(types)].map((type) => `type ${type}`);
}

describe('unknown events and versions', () => {
  const ringOf = (wireVersion: number): string => {
    const file = path.join(temporaryDirectory(), 'agent');
    writeRing(file, wireVersion, eventsFor(wireVersion));
    return file;
  };

  test.each(WIRE_VERSIONS.slice(1))('event types that the table does not have, in wire version %i', (wireVersion) => {
    expect(strangersIn(ringOf(wireVersion))).toEqual(['type 77', 'type 4000000000']);
  });

  test('an unknown wire version', () => {
    const file = ringOf(4);
    const last = WIRE_VERSIONS.at(-1)!;
    const bytes = readFileSync(file);
    bytes.writeInt32LE(last + 1, VERSION_AT);
    bytes.writeInt32LE(last + 1, VERSION_AT + 4);
    writeFileSync(file, bytes);
    expect(strangersIn(file)).toEqual([`wire version ${last + 1} is not known (1 to ${last})`]);
  });
});

const folder = process.env['NIXL_RINGS'];
test.skipIf(folder === undefined)('rings of NIXL hold no unknown events or versions', () => {
  const files = readdirSync(folder!, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ring'));
  expect(files).not.toEqual([]);
  const found = files.map((file) => ({ file, strangers: strangersIn(path.join(folder!, file)) }));
  expect(found.filter(({ strangers }) => strangers.length > 0)).toEqual([]);
});

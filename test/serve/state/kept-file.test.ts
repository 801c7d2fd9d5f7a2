import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type DatedValue, KeptFile } from '../../../src/serve/state/kept-file.js';
import { fillUp, freeBytes, MAY_MOUNT, smallTmpfs } from '../../support/small-tmpfs.js';
import { temporaryDirectory } from '../../support/live.js';

interface Numbers extends DatedValue {
  readonly numbers: readonly number[];
}

let complaints: string[];
beforeEach(() => {
  complaints = [];
});

function keptFile(directories: readonly string[], version = 1, lackBytes = 0): KeptFile<Numbers> {
  return new KeptFile<Numbers>({
    ...{ name: 'n.json', version, mostBytes: 1000, lackBytes: () => lackBytes, directories: () => directories },
    isValue: (json): json is Numbers => 'numbers' in json,
    complain: (text) => complaints.push(text),
  });
}

const folderIn = (directory: string): string => path.join(directory, '.nixl-otel', '.serve');

it('keeps a value in folders of this user alone, and replaces it whole', () => {
  const directory = temporaryDirectory();
  const file = keptFile([directory]);
  expect(file.read()).toBeUndefined();
  expect(existsSync(path.join(directory, '.nixl-otel'))).toBe(false);
  for (const keptMs of [5, 6]) expect(file.write({ keptMs, numbers: [keptMs] })).toBe(true);
  expect(keptFile([directory]).read()).toMatchObject({ keptMs: 6, numbers: [6] });
  expect(readdirSync(folderIn(directory))).toEqual(['n.json']);
  const modes = [path.join(directory, '.nixl-otel'), folderIn(directory), path.join(folderIn(directory), 'n.json')];
  expect(modes.map((name) => (statSync(name).mode & 0o777).toString(8))).toEqual(['700', '700', '600']);
  expect(complaints).toEqual([]);
});

describe('what is no value', () => {
  it.each([
    ['text', 'it is damaged'],
    ['[]', 'it is of another version'],
    ['{"version":2,"keptMs":1,"numbers":[]}', 'it is of another version'],
    ['{"version":1,"keptMs":1}', 'it is damaged'],
    [`{"version":1,"keptMs":1,"numbers":[${'0,'.repeat(1000)}0]}`, 'it is damaged'],
  ])('%.40s is ignored, reported and replaced', (text, reason) => {
    const directory = temporaryDirectory();
    const file = keptFile([directory]);
    file.write({ keptMs: 1, numbers: [] });
    const name = path.join(folderIn(directory), 'n.json');
    writeFileSync(name, text);
    expect(file.read()).toBeUndefined();
    expect(complaints).toEqual([expect.stringContaining(reason)]);
    expect(file.write({ keptMs: 2, numbers: [] })).toBe(true);
    expect(file.read()).toMatchObject({ keptMs: 2 });
  });

  it('is not followed over a link, and not read from a folder that others may change', () => {
    const [directory, other] = [temporaryDirectory(), temporaryDirectory()];
    keptFile([other]).write({ keptMs: 1, numbers: [] });
    symlinkSync(path.join(other, '.nixl-otel'), path.join(directory, '.nixl-otel'));
    expect(keptFile([directory]).read()).toBeUndefined();
    expect(keptFile([directory]).write({ keptMs: 1, numbers: [] })).toBe(false);
    chmodSync(folderIn(other), 0o755);
    expect(keptFile([other]).read()).toBeUndefined();
    expect(complaints).toHaveLength(3);
    expect(complaints.at(-1)).toContain('its folder .serve is open to others');
  });
});

it('takes the first directory that it can write, and the newest value of all', () => {
  const [absent, full, good] = [path.join(temporaryDirectory(), 'absent'), temporaryDirectory(), temporaryDirectory()];
  writeFileSync(path.join(full, '.nixl-otel'), 'no folder');
  expect(keptFile([absent, full, good]).write({ keptMs: 1, numbers: [1] })).toBe(true);
  expect(existsSync(absent)).toBe(false);
  const later = temporaryDirectory();
  keptFile([later]).write({ keptMs: 2, numbers: [2] });
  expect(keptFile([absent, good, later]).read()).toMatchObject({ numbers: [2] });
  expect(complaints).toEqual([]);
  expect(keptFile([absent, full]).write({ keptMs: 3, numbers: [] })).toBe(false);
  expect(complaints).toEqual([expect.stringMatching(/^n\.json is not kept over a restart: .*ENOENT/)]);
});

it('refuses a value that is too large, and keeps the last one', () => {
  const file = keptFile([temporaryDirectory()]);
  file.write({ keptMs: 1, numbers: [1] });
  expect(file.write({ keptMs: 2, numbers: new Array<number>(1000).fill(0) })).toBe(false);
  expect(file.read()).toMatchObject({ keptMs: 1 });
  expect(complaints).toEqual([expect.stringContaining('it has more than 1')]);
});

it('replaces what a process left that was killed while it wrote', () => {
  const directory = temporaryDirectory();
  const file = keptFile([directory]);
  file.write({ keptMs: 1, numbers: [1] });
  mkdirSync(folderIn(directory), { recursive: true });
  writeFileSync(path.join(folderIn(directory), 'n.json.new'), 'half');
  expect(file.write({ keptMs: 2, numbers: [2] })).toBe(true);
  expect(readFileSync(path.join(folderIn(directory), 'n.json'), 'utf8')).toContain('"keptMs":2');
  expect(readdirSync(folderIn(directory))).toEqual(['n.json']);
});

describe.runIf(MAY_MOUNT)('a file system with little space', () => {
  it('is left to the rings', () => {
    const directory = smallTmpfs('4m');
    const RESERVE = 2 ** 20;
    fillUp(directory, RESERVE + 100_000);
    expect(keptFile([directory], 1, 100_000).write({ keptMs: 1, numbers: [] })).toBe(false);
    expect(existsSync(path.join(directory, '.nixl-otel'))).toBe(false);
    expect(complaints[0]).toMatch(/free, which agents may need$/);
    expect(keptFile([directory]).write({ keptMs: 1, numbers: [] })).toBe(true);
    const before = freeBytes(directory);
    fillUp(directory, RESERVE);
    expect(before).toBeGreaterThan(RESERVE);
    expect(keptFile([directory]).write({ keptMs: 2, numbers: [] })).toBe(false);
    expect(keptFile([directory]).read()).toMatchObject({ keptMs: 1 });
  });
});

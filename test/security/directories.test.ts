/** Rings of other users: links are not followed, owners can be restricted, and a public directory causes a warning. */
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NixlMetricProducer } from '../../src/index.js';
import { tallyOptions } from '../../src/mapping/index.js';
import {
  inspectRing,
  observeRing,
  openRing,
  openSource,
  RingWriter,
  type Snapshot,
} from '../../src/shm-bridge/index.js';
import { scrape, start, until, valueOf } from '../cli/command.js';
import { allDrained, drained, openTestSource, temporaryDirectory } from '../support/live.js';

const me = process.getuid!();
const someoneElse = me + 1;

function ringIn(directory: string, name = 'agent'): string {
  const file = path.join(directory, name);
  const writer = new RingWriter(file, { wireVersion: 4, capacity: 64 });
  for (let i = 0; i < 5; i++) writer.push({ type: 0, value: 1n });
  writer.close();
  return file;
}

test('does not follow a symbolic link, also to a ring', async () => {
  const [directory, elsewhere] = [temporaryDirectory(), temporaryDirectory()];
  const ring = ringIn(elsewhere);
  const link = path.join(directory, 'link');
  symlinkSync(ring, link);
  symlinkSync(elsewhere, path.join(directory, 'folder'));
  const source = openTestSource([directory]);
  await until(() => source.snapshot().problems.length === 2);
  expect(source.snapshot().agents).toEqual([]);
  expect(source.snapshot().problems.map(({ reason }) => reason)).toEqual([
    'not a regular file but a symbolic link, which is not followed',
    'not a regular file but a symbolic link, which is not followed',
  ]);
  expect(() => openRing(link)).toThrow('a symbolic link');
  expect(() => observeRing(link)).toThrow('a symbolic link');
  expect(inspectRing(link)).toMatchObject({ state: 'corrupt' });
  expect(inspectRing(ring)).toMatchObject({ pending: 5 });
});

test('reads only rings of the configured owners', async () => {
  const directory = temporaryDirectory();
  ringIn(directory);
  const open = (owners: number[]) => openSource({ directories: [directory], tally: tallyOptions(), owners });
  const strict = open([someoneElse]);
  await until(() => strict.snapshot().problems.length > 0);
  expect(strict.snapshot()).toMatchObject({
    agents: [],
    problems: [{ state: 'denied', reason: `its owner, user ${me}, is not among the owners` }],
  });
  expect(inspectRing(path.join(directory, 'agent'))).toMatchObject({ pending: 5 });
  strict.close();
  const fitting = open([someoneElse, me]);
  await allDrained(directory);
  expect(drained(fitting.snapshot())).toBe(5);
  fitting.close();
});

test.each([
  [undefined, [someoneElse], false],
  [[someoneElse], undefined, false],
  [[me], [someoneElse], false],
  [[someoneElse], [me], false],
  [[me, someoneElse], [me], true],
  [[me], undefined, true],
])('applies the owners of every source to a shared ring: %j and %j', async (first, second, isRead) => {
  const parent = temporaryDirectory();
  const directory = path.join(parent, 'inner');
  mkdirSync(directory);
  const open = (place: string, owners: number[] | undefined) =>
    openSource({ directories: [place], tally: tallyOptions(), ...(owners === undefined ? {} : { owners }) });
  const sources = [open(directory, first), open(parent, second)];
  onTestFinished(() => sources.forEach((source) => source.close()));
  // Make the ring only now, so that both sources decide about it when it is found.
  const ring = ringIn(directory);
  const isJudged = ({ agents, problems }: Snapshot) =>
    agents.length > 0 || problems.some(({ state }) => state === 'denied');
  await until(() => sources.every((source) => isJudged(source.snapshot())));
  const seen = sources.map((source) => source.snapshot().agents.map((agent) => agent.path));
  expect(seen).toEqual(isRead ? [[ring], [ring]] : [[], []]);
  if (!isRead) expect(inspectRing(ring)).toMatchObject({ pending: 5, consumed: false });
});

test.each([[[]], [[-1]], [[1.5]], [['root']], ['0'], [[2 ** 32]]])('owners %j are refused', (owners) => {
  const options = { directories: '/nowhere', owners: owners as never };
  expect(() => new NixlMetricProducer(options)).toThrow(/owners(\[0\])? is/);
});

test('serve --owner reads the rings of that user only', async () => {
  const directory = temporaryDirectory();
  ringIn(directory);
  const serve = start(['serve', '--dir', directory, '--port', '0', '--owner', String(someoneElse)]);
  const [url] = await serve.says(/http:\S+metrics/);
  await until(async () => valueOf(await scrape(url), 'nixl_collector_problems', 'state="denied"') === 1);
  expect(valueOf(await scrape(url), 'nixl_events_total')).toBe(0);
  const { stderr } = await serve.stop();
  expect(stderr).toContain('is not among the owners');
});

test('warns once about a directory that every user may write to, unless owners are set', async () => {
  const directory = temporaryDirectory();
  mkdirSync(path.join(directory, 'group'));
  const warnings = async (...flags: string[]) => {
    const serve = start(['serve', '--dir', directory, '--port', '0', ...flags]);
    const [url] = await serve.says(/http:\S+metrics/);
    // By then the collector has searched the directory.
    await until(async () => valueOf(await scrape(url), 'nixl_collector_ticks_total') > 2);
    await scrape(url);
    return (await serve.stop()).stderr.match(/any user may create rings in .*/g) ?? [];
  };
  expect(await warnings()).toEqual([]);
  chmodSync(path.join(directory, 'group'), 0o1777);
  const remedy = 'make it private, or name the owners of rings (option owners, flag --owner)';
  expect(await warnings()).toEqual([`any user may create rings in ${directory}: ${remedy}`]);
  expect(await warnings('--owner', String(me))).toEqual([]);
});

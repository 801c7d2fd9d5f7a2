/** Choices that keys have chosen: the file that keeps them, and a top on a real terminal that begins with it. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { INITIAL } from '../../../src/top/screen/keys.js';
import { changedChoices, ChoicesFile } from '../../../src/top/screen/choices-file.js';
import { startTransferSource, temporaryDirectory } from '../../cli/command.js';
import { runHere } from '../../cli/in-process.js';
import { hasScript, onRings, type Terminal } from './terminal.js';

const envOf = (folder: string): NodeJS.ProcessEnv => ({ XDG_CONFIG_HOME: folder });
const fileIn = (folder: string): string => path.join(folder, 'nixl-otel', 'top.json');
const contentOf = (folder: string): unknown => JSON.parse(readFileSync(fileIn(folder), 'utf8'));

/** Makes a folder whose file has this text. */
function folderWith(text: string): string {
  const folder = temporaryDirectory();
  mkdirSync(path.dirname(fileIn(folder)));
  writeFileSync(fileIn(folder), text);
  return folder;
}

describe('the choices of top', () => {
  it('are kept as a whole, readable by their owner alone, in the folder that the system names', () => {
    const folder = path.join(temporaryDirectory(), 'new');
    const choices = new ChoicesFile(envOf(folder));
    expect([choices.choices, choices.problem]).toEqual([{}, undefined]);
    choices.change({ sort: 'p99', reverse: true });
    choices.change({ intervalMs: 500, reverse: false });
    expect(choices.save()).toBeUndefined();
    expect(contentOf(folder)).toEqual({ version: 1, sort: 'p99', reverse: false, intervalMs: 500 });
    expect(statSync(fileIn(folder)).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(fileIn(folder))).mode & 0o777).toBe(0o700);
    expect(readdirSync(path.dirname(fileIn(folder)))).toEqual(['top.json']);
    expect(new ChoicesFile(envOf(folder)).choices).toEqual({ sort: 'p99', reverse: false, intervalMs: 500 });
    expect(new ChoicesFile({ XDG_CONFIG_HOME: '' }).problem).toBeUndefined();
  });

  it('are written only after a change, over what others have written since, and through a link', () => {
    const real = path.join(temporaryDirectory(), 'mine.json');
    writeFileSync(real, '{"version":1,"mouse":false,"of a later version":[1]}');
    const folder = temporaryDirectory();
    mkdirSync(path.dirname(fileIn(folder)));
    symlinkSync(real, fileIn(folder));
    const [first, second] = [new ChoicesFile(envOf(folder)), new ChoicesFile(envOf(folder))];
    first.change({ totals: true });
    second.change({ topFive: true });
    expect([first.save(), second.save(), second.save()]).toEqual([undefined, undefined, undefined]);
    const all = { version: 1, mouse: false, 'of a later version': [1], totals: true, topFive: true };
    expect(JSON.parse(readFileSync(real, 'utf8'))).toEqual(all);
    const inode = statSync(real).ino;
    expect(new ChoicesFile(envOf(folder)).save()).toBeUndefined();
    expect(statSync(real).ino).toBe(inode);
  });

  it('are written through links to a file that does not exist yet', () => {
    const elsewhere = temporaryDirectory();
    symlinkSync('mine.json', path.join(elsewhere, 'link'));
    const folder = temporaryDirectory();
    mkdirSync(path.dirname(fileIn(folder)));
    symlinkSync(path.relative(path.dirname(fileIn(folder)), path.join(elsewhere, 'link')), fileIn(folder));
    const choices = new ChoicesFile(envOf(folder));
    choices.change({ totals: true });
    expect(choices.save()).toBeUndefined();
    expect(lstatSync(fileIn(folder)).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(path.join(elsewhere, 'mine.json'), 'utf8'))).toEqual({ version: 1, totals: true });
  });

  it.each([
    ['no JSON', '{"version":1', /is damaged: .*JSON/],
    ['no object', '[1]', /is damaged: it has no JSON object$/],
    ['another version', '{"version":0}', /is damaged: "version" is 0; allowed: 1$/],
  ])('are the defaults if the file is damaged: %s. The next change replaces it', (_, text, reason) => {
    const folder = folderWith(text);
    const choices = new ChoicesFile(envOf(folder));
    expect(choices.choices).toEqual({});
    expect(choices.problem).toMatch(reason);
    expect(choices.problem).toContain(fileIn(folder));
    choices.change({ totals: true });
    expect(choices.save()).toBeUndefined();
    expect(contentOf(folder)).toEqual({ version: 1, totals: true });
  });

  it('are all but those with an unknown value, which the file keeps until a key replaces it', () => {
    const written = { version: 1, sort: 'size', reverse: true, mouse: false, intervalMs: 1, later: [1] };
    const folder = folderWith(JSON.stringify(written));
    const choices = new ChoicesFile(envOf(folder));
    expect(choices.choices).toEqual({ mouse: false });
    expect(choices.problem).toMatch(
      /top\.json: "sort" is "size"; allowed: one of "agent", "tx".*, "intervalMs" is 1; allowed: .* from 100 to 3600000$/,
    );
    choices.change({ totals: true });
    expect(choices.save()).toBeUndefined();
    expect(contentOf(folder)).toEqual({ ...written, totals: true });
    choices.change({ sort: 'tx', reverse: false });
    expect(choices.save()).toBeUndefined();
    expect(contentOf(folder)).toEqual({ ...written, totals: true, sort: 'tx', reverse: false });
  });

  it('are the defaults if the file belongs to a newer version, which keeps it', () => {
    const text = '{"version":2,"sort":{"column":"p99"}}';
    const folder = folderWith(text);
    const choices = new ChoicesFile(envOf(folder));
    const problem = `${fileIn(folder)} belongs to a newer nixl-otel: its version is 2, this one knows 1`;
    expect([choices.choices, choices.problem]).toEqual([{}, problem]);
    choices.change({ totals: true });
    expect(choices.save()).toBe(problem);
    expect(readFileSync(fileIn(folder), 'utf8')).toBe(text);
  });

  it('are the defaults where no file can be', () => {
    const inTheWay = path.join(temporaryDirectory(), 'file');
    writeFileSync(inTheWay, '');
    const choices = new ChoicesFile(envOf(inTheWay));
    expect(choices.choices).toEqual({});
    choices.change({ totals: true });
    expect(choices.save()).toMatch(/top\.json cannot be (read|written): E/);

    const folder = temporaryDirectory();
    mkdirSync(fileIn(folder), { recursive: true });
    const other = new ChoicesFile(envOf(folder));
    expect(other.problem).toBe(`${fileIn(folder)} is no file of top's choices`);
    other.change({ totals: true });
    expect(other.save()).toBe(other.problem);
  });

  it('are those that a key has changed. A direction goes with its column, and a filter is none', () => {
    expect(changedChoices(INITIAL, { ...INITIAL, filter: 'x', paused: true, cursor: 'a', problemsOnly: true })).toEqual(
      {},
    );
    expect(changedChoices(INITIAL, { ...INITIAL, mouse: false })).toEqual({ mouse: false });
    expect(changedChoices(INITIAL, { ...INITIAL, sort: 'tx' })).toEqual({ sort: 'tx', reverse: false });
    const reversed = changedChoices({ ...INITIAL, sort: 'tx' }, { ...INITIAL, sort: 'tx', reverse: true });
    expect(reversed).toEqual({ sort: 'tx', reverse: true });
  });
});

async function ends(terminal: Terminal): Promise<string> {
  terminal.type('q');
  const { code, restored, text } = await terminal.after();
  expect({ code, restored }).toEqual({ code: 0, restored: true });
  return text;
}

describe.skipIf(!hasScript)('a terminal', () => {
  it('begins with the choices of the last run, unless flags say otherwise', async () => {
    const folder = temporaryDirectory();
    const first = await onRings('', envOf(folder));
    first.type('Tt+/0\r');
    await first.shows(/filter: 0 [^]*200 ms/);
    await ends(first);
    expect(contentOf(folder)).toEqual({ version: 1, sort: 'tx', reverse: false, totals: true, intervalMs: 200 });

    const second = await onRings('--interval 300', envOf(folder));
    await second.shows(/300 ms {2}\d/);
    await second.shows(/ TX▾ +RX /);
    await ends(second);
    const third = await onRings('--sort p99 --interval 100', envOf(folder));
    await third.shows(/ TX +RX .* P99▾/);
    await ends(third);
    const fourth = await onRings('--no-remember', envOf(folder));
    await fourth.shows(/ TX\/s +RX\/s /);
    fourth.type('R');
    await fourth.shows(/RX\/s▾/);
    await ends(fourth);
    expect(contentOf(folder)).toMatchObject({ sort: 'tx', intervalMs: 200 });
  });

  it('says why it begins with the defaults, and why it remembers nothing', async () => {
    const folder = folderWith('{"version":9}');
    const terminal = await onRings('', envOf(folder));
    await terminal.shows(/Defaults are used: \S+/);
    terminal.type('T');
    await terminal.shows(/TX\/s▾/);
    expect(await ends(terminal)).toContain('nixl-otel: warning: what keys chose is not remembered: ');
    expect(contentOf(folder)).toEqual({ version: 9 });
  });
});

describe('without a screen', () => {
  it.each(['--once', '--json --count 1', '--count 1'])('%s reads and writes no choices', async (flags) => {
    const dir = temporaryDirectory();
    await startTransferSource(['--dir', dir, '--seconds', '0', '--ready']).says(/ready/);
    const [damaged, none] = [folderWith('{'), temporaryDirectory()];
    const top = (folder: string) =>
      runHere(['top', '--dir', dir, '--interval', '100', ...flags.split(' ')], envOf(folder));
    expect(await top(damaged)).toMatchObject({ code: 0, stderr: '' });
    expect(await top(none)).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(path.join(none, 'nixl-otel'))).toBe(false);
    expect(readFileSync(fileIn(damaged), 'utf8')).toBe('{');
  });
});

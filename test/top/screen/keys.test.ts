import type { Key } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { HELP } from '../../../src/top/screen/help.js';
import { copies, INITIAL, pressed, type Shown, type UiState } from '../../../src/top/screen/keys.js';

const IDS = Array.from({ length: 64 }, (_, i) => `agent-${i}`);
const SHOWN: Shown = { ids: IDS, height: 10, most: 54, mostDetail: 20 };
const [up, down, pageUp, pageDown, home, end, escape, enter] = [
  ...['up', 'down', 'pageup', 'pagedown', 'home', 'end', 'escape', 'return'].map((name) => ({ name, sequence: '' })),
] as [Key, Key, Key, Key, Key, Key, Key, Key];

/** Returns the state after these keys; undefined if they end top. */
function after(keys: (string | Key)[], from: UiState = INITIAL, shown = SHOWN): UiState | undefined {
  return keys.reduce<UiState | undefined>((state, key) => {
    const pressedKey = typeof key === 'string' ? { sequence: key, name: key } : key;
    return state && pressed(state, pressedKey, shown);
  }, from);
}

describe('help', () => {
  it('fits a screen of 80 columns and 24 rows', () => {
    expect(HELP.length).toBeLessThanOrEqual(21);
    for (const line of HELP) expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe('keys', () => {
  it('end top', () => {
    expect(after(['q'])).toBeUndefined();
    expect(after([{ ctrl: true, name: 'c' }])).toBeUndefined();
    expect(after(['/', { ctrl: true, name: 'c' }])).toBeUndefined();
  });

  it('open and close pages: detail, doctor, help, and the parts of a detail', () => {
    expect(after(['v'])).toMatchObject({ topFive: true });
    expect(after(['m'])).toMatchObject({ lastMinute: false });
    expect(after([down, enter, 'm'])).toMatchObject({ detail: true, lastMinute: true });
    const diagnosis = after([down, enter, down, 'd'])!;
    expect(diagnosis).toMatchObject({ doctor: true, detail: true, detailOffset: 0 });
    expect(after([down, down, up], diagnosis)).toMatchObject({ detailOffset: 1, cursor: 'agent-0' });
    expect(after(['d'], diagnosis)).toMatchObject({ doctor: false, detail: true });
    expect(after([escape], diagnosis)).toMatchObject({ doctor: false, detail: true });
    expect(after(['/'], diagnosis)).toMatchObject({ doctor: false, detail: false, typing: true });
  });

  it('open time by size, and show one measure after the other', () => {
    const open = after(['b'])!;
    expect(open).toMatchObject({ sizes: true, sizeMeasure: 'peers', mouse: true });
    const measures = [1, 2, 3, 4].map((times) => after(Array<string>(times).fill('m'), open)!.sizeMeasure);
    expect(measures).toEqual(['earlier', 'time', 'rate', 'peers']);
    const detail = after([down, enter], open)!;
    expect(detail).toMatchObject({ detail: true, sizes: true });
    expect(after(['m'], detail)).toMatchObject({ lastMinute: true, sizeMeasure: 'peers' });
    expect(after([escape], detail)).toMatchObject({ detail: false, sizes: true });
    expect(after(['b'], detail)).toMatchObject({ detail: false, sizes: true });
    expect(after([escape], open)).toMatchObject({ sizes: false });
    expect(after(['b'], open)).toMatchObject({ sizes: false });
  });

  it('open the incidents over all else, and scroll them', () => {
    const open = after([down, enter, 'i'])!;
    expect(open).toMatchObject({ incidents: true, detail: false, detailOffset: 0 });
    expect(after([down, down, up], open)).toMatchObject({ incidents: true, detailOffset: 1 });
    expect(after(['b'], open)).toMatchObject({ incidents: false, sizes: true });
    for (const key of ['i', escape]) expect(after([key], open)).toMatchObject({ incidents: false });
    expect(after(['/'], open)).toMatchObject({ incidents: false, typing: true });
  });

  it('copy only an open agent', () => {
    const open = after([down, enter])!;
    const c = { sequence: 'c' };
    expect(copies(open, c)).toBe(true);
    expect(copies(open, { sequence: 'C' })).toBe(false);
    for (const other of [INITIAL, after(['d'], open)!, after(['h'], open)!]) expect(copies(other, c)).toBe(false);
  });

  it('drop the message of the last line', () => {
    expect(after(['t'], { ...INITIAL, said: 'copied' })).toMatchObject({ said: '', totals: true });
  });

  it('select the columns in both directions, and wrap', () => {
    expect(after(['s'])!.sort).toBe('tx');
    expect(after(['s', 's'])!.sort).toBe('rx');
    expect(after([{ name: 'left' }, { name: 'left' }])!.sort).toBe('idle');
    expect(after(['r'])!.reverse).toBe(true);
  });

  it.each([
    ['A', 'agent'],
    ['T', 'tx'],
    ['R', 'rx'],
    ['Q', 'requests'],
    ['5', 'p50'],
    ['9', 'p99'],
    ['M', 'max'],
    ['O', 'post'],
    ['E', 'errors'],
    ['L', 'lost'],
    ['F', 'fill'],
    ['I', 'idle'],
    ['X', 'rate'],
  ])('%s sorts by %s, and again in the other direction', (letter, sort) => {
    const other = { ...INITIAL, sort: 'p90' as const, reverse: true };
    expect(after([letter], other)).toMatchObject({ sort, reverse: false });
    expect(after([letter, letter], other)).toMatchObject({ sort, reverse: true });
    expect(after([letter, letter, letter], other)).toMatchObject({ sort, reverse: false });
  });

  it('type a filter until Enter or Esc: meanwhile no key is a command', () => {
    const typing = ['/', 'q', 's', 'x', { name: 'backspace' }, '模'];
    expect(after(typing)).toMatchObject({ filter: 'qs模', typing: true, sort: INITIAL.sort });
    expect(after([...typing, { name: 'return', sequence: '\r' }])).toMatchObject({ filter: 'qs模', typing: false });
    expect(after([...typing, { name: 'escape', sequence: '\x1b' }])).toMatchObject({ filter: '', typing: false });
    expect(after(['/', { name: 'up', sequence: '\x1b[A' }, { sequence: '\u202e' }])!.filter).toBe('');
  });

  it('move the cursor, at first into the first shown row, and the rows with it', () => {
    expect(after([down])).toMatchObject({ cursor: 'agent-0', offset: 0 });
    expect(after([down, 'j', 'j', 'k'])).toMatchObject({ cursor: 'agent-1', offset: 0 });
    expect(after([down, up, up])).toMatchObject({ cursor: 'agent-0', offset: 0 });
    expect(after([down, pageDown])).toMatchObject({ cursor: 'agent-10', offset: 1 });
    expect(after([end])).toMatchObject({ cursor: 'agent-63', offset: 54 });
    expect(after([end, down])).toMatchObject({ cursor: 'agent-63', offset: 54 });
    expect(after([end, pageUp])).toMatchObject({ cursor: 'agent-53', offset: 53 });
    expect(after([end, home])).toMatchObject({ cursor: 'agent-0', offset: 0 });
    expect(after([down], { ...INITIAL, offset: 20 })).toMatchObject({ cursor: 'agent-20', offset: 20 });
  });

  it('put the cursor into the table again if its agent is gone', () => {
    expect(after([down], { ...INITIAL, cursor: 'gone', offset: 3 })).toMatchObject({ cursor: 'agent-3' });
    expect(after([down, enter], INITIAL, { ...SHOWN, ids: [], most: 0 })).toEqual(INITIAL);
  });

  it('open the agent under the cursor, or the first one, and go to its neighbours', () => {
    expect(after([enter])).toMatchObject({ detail: true, cursor: 'agent-0' });
    expect(after([down, down, enter, 'j'])).toMatchObject({ detail: true, cursor: 'agent-2' });
    expect(after([down, enter, 'k'])).toMatchObject({ detail: true, cursor: 'agent-0' });
    expect(after([enter, enter])).toMatchObject({ detail: false, cursor: 'agent-0' });
  });

  it('scroll the detail no further than its last line', () => {
    const opened = after([enter])!;
    expect(after([up], opened)!.detailOffset).toBe(0);
    expect(after([down, pageDown], opened)!.detailOffset).toBe(11);
    expect(after([end, down], opened)!.detailOffset).toBe(20);
    expect(after([end, 'j', home], opened)).toMatchObject({ detailOffset: 0, cursor: 'agent-1' });
  });

  it('go back by one step with Esc', () => {
    const deep = after(['/', 'a', { name: 'return', sequence: '\r' }, '!', down, enter, 'h'])!;
    expect(deep).toMatchObject({ help: true, detail: true, filter: 'a', problemsOnly: true, cursor: 'agent-0' });
    expect(after([escape], deep)).toMatchObject({ help: false, detail: true });
    expect(after([escape, escape], deep)).toMatchObject({ detail: false, filter: 'a', problemsOnly: true });
    expect(after([escape, escape, escape], deep)).toMatchObject({ filter: '', problemsOnly: false, cursor: 'agent-0' });
    expect(after([escape, escape, escape, escape], deep)).toEqual(INITIAL);
  });

  it('make the interval longer and shorter, within bounds', () => {
    expect(after(['+'])!.intervalMs).toBe(2_000);
    expect(after(['-', '-'])!.intervalMs).toBe(200);
    expect(after(['-', '-', '-', '-', '-'])!.intervalMs).toBe(100);
    expect(after(['+'], { ...INITIAL, intervalMs: 3_600_000 })!.intervalMs).toBe(3_600_000);
    expect(after(['-'], { ...INITIAL, intervalMs: 3_600_000 })!.intervalMs).toBe(60_000);
  });

  it('switch pause, help, totals, old files and problems on and off', () => {
    const on = after(['p', 'h', 't', 'a', '!', 'P'])!;
    expect(on).toMatchObject({ paused: true, help: true, totals: true, all: true });
    expect(on).toMatchObject({ problemsOnly: true, problemsFirst: false });
    expect(after([' ', '?', 't', 'a', '!', 'P'], on)).toEqual(INITIAL);
  });

  it('show the next finding', () => {
    expect(after(['n', 'n'])!.finding).toBe(2);
  });

  it('do nothing if they have no meaning', () => {
    expect(after(['x', { name: 'f5', sequence: '\x1b[15~' }, {}])).toEqual(INITIAL);
  });
});

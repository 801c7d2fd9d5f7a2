import type { Key } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { HELP, INITIAL, pressed, type UiState } from '../../../src/cli/top/keys.js';

const SCROLLING = { height: 10, most: 54 };

/** Returns the state after these keys; undefined if they end top. */
function after(keys: (string | Key)[], from: UiState = INITIAL): UiState | undefined {
  return keys.reduce<UiState | undefined>((state, key) => {
    const pressedKey = typeof key === 'string' ? { sequence: key, name: key } : key;
    return state && pressed(state, pressedKey, SCROLLING);
  }, from);
}

describe('help', () => {
  it('fits a screen of 80 columns and 24 rows', () => {
    expect(HELP.length).toBeLessThanOrEqual(19);
    for (const line of HELP) expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe('keys', () => {
  it('end top', () => {
    expect(after(['q'])).toBeUndefined();
    expect(after([{ ctrl: true, name: 'c' }])).toBeUndefined();
    expect(after(['/', { ctrl: true, name: 'c' }])).toBeUndefined();
  });

  it('select the columns in both directions, and wrap', () => {
    expect(after(['s'])!.sort).toBe('agent');
    expect(after(['s', 's'])!.sort).toBe('tx');
    expect(after(['s', { name: 'left' }, { name: 'left' }])!.sort).toBe('idle');
    expect(after(['r'])!.reverse).toBe(true);
  });

  it('type a filter until Enter or Esc: meanwhile no key is a command', () => {
    const typing = ['/', 'q', 's', 'x', { name: 'backspace' }, '模'];
    expect(after(typing)).toMatchObject({ filter: 'qs模', typing: true, sort: INITIAL.sort });
    expect(after([...typing, { name: 'return', sequence: '\r' }])).toMatchObject({ filter: 'qs模', typing: false });
    expect(after([...typing, { name: 'escape', sequence: '\x1b' }])).toMatchObject({ filter: '', typing: false });
    expect(after(['/', { name: 'up', sequence: '\x1b[A' }, { sequence: '\u202e' }])!.filter).toBe('');
  });

  it('scroll no further than the last row', () => {
    const [up, down, pageDown, end] = ['up', 'down', 'pagedown', 'end'].map((name) => ({ name }));
    expect(after([up!])!.offset).toBe(0);
    expect(after([down!, pageDown!])!.offset).toBe(11);
    expect(after([end!, down!])!.offset).toBe(54);
    expect(after([end!, { name: 'home' }])!.offset).toBe(0);
  });

  it('switch pause, help, totals and old files on and off', () => {
    const on = after(['p', 'h', 't', 'a'])!;
    expect(on).toMatchObject({ paused: true, help: true, totals: true, all: true });
    expect(after([' ', '?', 't', 'a'], on)).toEqual(INITIAL);
  });

  it('do nothing if they have no meaning', () => {
    expect(after(['x', { name: 'f5', sequence: '\x1b[15~' }, {}])).toEqual(INITIAL);
  });
});

import { describe, expect, it } from 'vitest';
import { INITIAL, type UiState } from '../../../src/top/screen/keys.js';
import { type MouseReport, pointed, separated } from '../../../src/top/screen/mouse.js';
import { fleetViews, framed, sceneAfter } from './scenes.js';

describe('input of a terminal', () => {
  it('is divided into keys and reports of the mouse', () => {
    const text = 'a\x1b[<0;5;1Mb\x1b[A\x1b[<0;5;1m\x1b[<64;200;3M\x1b[<65;1;1M\x1b[<2;9;9M\x1b';
    expect(separated(text)).toEqual({
      keys: 'ab\x1b[A\x1b',
      reports: [
        { kind: 'click', column: 4, row: 0 },
        { kind: 'wheelUp', column: 199, row: 2 },
        { kind: 'wheelDown', column: 0, row: 0 },
      ],
      rest: '',
    });
  });

  it('may end within a report, but a beginning of a key is that of a key', () => {
    const begun = separated('x\x1b[<0;1');
    expect(begun).toEqual({ keys: 'x', reports: [], rest: '\x1b[<0;1' });
    expect(separated(`${begun.rest}2;7M`).reports).toEqual([{ kind: 'click', column: 11, row: 6 }]);
    expect(['\x1b', '\x1b['].map((text) => separated(text).keys)).toEqual(['\x1b', '\x1b[']);
  });
});

/** The state after a report on the screen of the fleet. `find`: the place is that of this text. */
function after(kind: MouseReport['kind'], find: string, about: Partial<UiState> = {}, columns = 120): UiState {
  const state = { ...INITIAL, ...about };
  const { text, shown } = framed(sceneAfter(fleetViews(), state), state, { columns, rows: columns / 3 });
  const lines = text.split('\n');
  const row = lines.findIndex((line) => line.includes(find));
  return pointed(state, { kind, row, column: lines[row]!.indexOf(find) }, shown);
}

describe('the mouse', () => {
  it.each([
    ['AGENT', 'agent'],
    ['TX/s', 'tx'],
    ['REQ/s', 'requests'],
    ['P50', 'p50'],
    ['FILL', 'fill'],
    ['TX+RX 60', 'rate'],
  ])('sorts by the heading %s, and again in the other direction', (heading, sort) => {
    const state = after('click', heading, { sort: 'p99' });
    expect(state).toMatchObject({ sort, reverse: false });
    expect(after('click', heading, state)).toMatchObject({ sort, reverse: true });
  });

  it('leaves the order as it is on a heading that does not sort', () => {
    expect(after('click', 'STATE', { sort: 'p99' })).toMatchObject({ sort: 'p99', reverse: false });
  });

  it('moves the cursor to a row, and opens the row of the cursor', () => {
    const state = after('click', 'decode-llama70b-tp5 ');
    expect(state).toMatchObject({ cursor: 'decode-llama70b-tp5', detail: false });
    expect(after('click', 'decode-llama70b-tp5 ', state)).toMatchObject({ detail: true });
    const scrolled = after('click', 'decode-llama70b-tp13 ', { offset: 10 });
    expect(scrolled).toMatchObject({ cursor: 'decode-llama70b-tp13', offset: 10 });
    expect(after('click', 'DATA INCOMPLETE')).toEqual(INITIAL);
    expect(after('click', 'Enter open')).toEqual(INITIAL);
  });

  it('scrolls: the table, the cursor, and an open page', () => {
    expect(after('wheelDown', 'AGENT').offset).toBe(3);
    expect(after('wheelUp', 'AGENT', { offset: 1 }).offset).toBe(0);
    expect(after('wheelDown', 'AGENT', { offset: 1_000 }).offset).toBe(37);
    const [first] = framed(sceneAfter(fleetViews(), INITIAL), INITIAL).shown.ids;
    expect(after('wheelUp', 'AGENT', { cursor: 'decode-llama70b-tp0' }).cursor).toBe('prefill-llama70b-tp5');
    expect(after('wheelUp', 'AGENT', { cursor: first! }).cursor).toBe(first);
    const open = { detail: true, cursor: 'prefill-llama70b-tp5' };
    expect(after('wheelDown', 'TRANSFER TIME', open, 81).detailOffset).toBe(3);
  });

  it('does nothing while a filter is typed or the help is open', () => {
    expect(after('click', 'TX/s', { typing: true }).sort).toBe('agent');
    expect(after('wheelDown', 'sort', { help: true }).offset).toBe(0);
  });
});

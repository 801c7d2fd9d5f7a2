/** Templates of pages are checked when they are made, and the numbers of a page when it is filled: a mistake costs an error. */
import { describe, expect, it } from 'vitest';
import { addon, type Handle } from '../../../src/shm-bridge/addon.js';
import { type Source, How, What } from '../../../src/serve/exposition/template.js';

type Step = readonly [bytes: number, source: Source, how?: number, skip?: number];

interface Given {
  readonly text?: string;
  readonly ends?: readonly number[];
  readonly words?: number;
  readonly given?: number;
}

function templateOf(
  steps: readonly Step[],
  { text = '', ends = [steps.length], words = 4, given = 1 }: Given = {},
): Handle {
  const all = steps.flatMap(([bytes, [what, place, argument], how = How.TEXT, skip = 0]) => [
    ...[bytes, what + how * 0x100 + skip * 0x1_0000, place, argument],
  ]);
  return addon().makeTemplate(Uint32Array.from(all), Buffer.from(text), Uint32Array.from(ends), words, given);
}

describe('a template is refused with', () => {
  it.each<[reason: string, steps: readonly Step[], given?: Given]>([
    ['a number behind the words of the agent', [[0, [What.COUNT, 4, 1]]]],
    ['a number behind the words of the agent', [[0, [What.WIDE, 3, 1]]]],
    ['a number behind the words of the agent', [[0, [What.TOTAL, 2, 3]]]],
    ['a number behind the words of the agent', [[0, [What.EXPONENTIAL, 0, 0]]]],
    ['a number behind the words of the agent', [[0, [What.COUNT, 2 ** 32 - 1, 1]]]],
    ['a number that is not given', [[0, [What.GIVEN, 1, 1]]]],
    ['a divisor below 1', [[0, [What.WIDE, 0, 0]]]],
    ['a divisor below 1', [[0, [What.COUNT, 0, -1]]]],
    ['an unknown step', [[0, [11 as 10, 0, 1]]]],
    ['an unknown step', [[0, [What.COUNT, 0, 1], 4]]],
    ['a step has bytes that are not there', [[2, [What.COUNT, 0, 1]]], { text: 'a' }],
    ['steps or bytes behind the families', [[1, [What.COUNT, 0, 1]]], { text: 'ab' }],
    ['steps or bytes behind the families', [[0, [What.COUNT, 0, 1]]], { ends: [] }],
    ['a family ends outside of the steps', [[0, [What.COUNT, 0, 1]]], { ends: [2] }],
    ['a family ends outside of the steps', [[0, [What.COUNT, 0, 1]]], { ends: [1, 0] }],
    ['an open message', [[0, [What.OPEN, 0, 0]]]],
    [
      'an open message',
      [
        [0, [What.OPEN, 0, 0]],
        [0, [What.CLOSE, 0, 0]],
      ],
      { ends: [1, 2] },
    ],
    ['a message ends that is not open', [[0, [What.CLOSE, 0, 0]]]],
    ['too many open messages', Array<Step>(9).fill([0, [What.OPEN, 0, 0]])],
    [
      'a step leaves out a number',
      [
        [0, [What.GIVEN, 0, 1], How.TEXT, 1],
        [0, [What.COUNT, 0, 1]],
      ],
    ],
    ['a step leaves out steps of other families', [[0, [What.GIVEN, 0, 1], How.TEXT, 1]]],
  ])('%s: %j %j', (reason, steps, given) => {
    expect(() => templateOf(steps, given)).toThrow(`no template of a page: ${reason}`);
  });
});

describe('a page', () => {
  const words = BigUint64Array.of(7n, 8n, 9n, 10n).buffer;
  const made = templateOf(
    [
      [1, [What.COUNT, 1, 1]],
      [1, [What.GIVEN, 0, 1]],
    ],
    { text: 'ab' },
  );
  /** Returns the text of a page in a room of some bytes; undefined if it does not fit. */
  const pageOf = (places: readonly number[], given: readonly number[] = [0.5], first = 0, room = 64) => {
    const page = new Uint8Array(room);
    const numbers = [Uint32Array.from(places), Float64Array.from(given)] as const;
    const heads = [Buffer.from('#'), Uint32Array.of(1)] as const;
    const end = addon().fillPage(page, 0, ...heads, 0, [made], words, ...numbers, first, new Uint32Array(1));
    return end < 0 ? undefined : Buffer.from(page.subarray(0, end)).toString();
  };

  it('has the numbers of its agent', () => {
    expect(pageOf([0, 4, 1])).toBe('#a8b0.5');
    expect(pageOf([2, 2, 1])).toBe('#a10b0.5');
    expect(pageOf([0, 4, 1], [-0])).toBe('#a8');
  });

  it('does not fit into a room that is too small', () => {
    for (let room = 0; room < 7; room++) expect(pageOf([0, 4, 1], [0.5], 0, room)).toBeUndefined();
  });

  it.each<[reason: string, places: readonly number[], given?: readonly number[], first?: number]>([
    ['an agent has words that are not there', [0, 5, 1]],
    ['an agent has words that are not there', [5, 0, 1]],
    ['an agent has words that are not there', [2 ** 32 - 1, 2 ** 32 - 1, 1]],
    ['an agent has numbers that are not there', [0, 4, 2]],
    ['a template is not for its agent', [0, 1, 1]],
    ['a template is not for its agent', [0, 4, 0]],
    ['a page has too few places', [0, 4]],
    ['a page has too few places', [0, 4, 1], [0.5], 1],
  ])('is refused: %s %j', (reason, ...given) => {
    expect(() => pageOf(...given)).toThrow(reason);
  });
});

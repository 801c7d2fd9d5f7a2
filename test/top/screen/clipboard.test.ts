import { expect, it } from 'vitest';
import { agentJson, clipboardSequence, mayHaveClipboard } from '../../../src/top/screen/clipboard.js';
import { failed } from '../../support/agent-models.js';
import { sample, totals, viewOf } from '../samples.js';
import { AT, DETAILS } from './scenes.js';

it('has the agent as top --json, and what else its detail shows', () => {
  const about = { txBytes: 5, ...failed({ canceled: 2 }), capacity: 64 };
  const [row] = viewOf(sample(AT, [totals('a\x1b', about)])).rows;
  const text = agentJson(row!, AT, { ...DETAILS, txSizes: { ...DETAILS.txSizes!, counts: new Float64Array([1, 2]) } });
  expect(text).not.toMatch(/[^ -~]/);
  expect(JSON.parse(text)).toMatchObject({
    time: new Date(AT).toISOString(),
    agent: 'a\x1b',
    totals: { txBytes: 5 },
    errorsByStatus: { canceled: 2 },
    capacity: 64,
    path: DETAILS.path,
    ring: DETAILS.ring,
    attributes: DETAILS.attributes,
    txSizes: { counts: [1, 2] },
  });
  expect(JSON.parse(agentJson(row!, AT))).toMatchObject({ agent: 'a\x1b', txBytesPerSecond: null });
});

it('is the sequence OSC 52, but not for terminals that draw it', () => {
  expect(clipboardSequence('{"a":"µ"}')).toBe('\x1b]52;c;eyJhIjoiwrUifQ==\x07');
  expect(['xterm-256color', 'tmux-256color', undefined, 'linux', 'vt220'].map(mayHaveClipboard)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

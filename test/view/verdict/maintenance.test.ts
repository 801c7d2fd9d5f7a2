import { expect, it } from 'vitest';
import type { Maintenance, VerdictInput } from '../../../src/view/verdict/types.js';
import { levelOf } from '../../../src/view/verdict/shapes.js';
import { verdictOf } from '../../../src/view/verdict/verdict.js';
import { agentModel } from '../../support/agent-models.js';

const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);
const ENDED_MS = NOW_MS - 240_000;

function findings(maintenance: readonly Maintenance[], about: Partial<VerdictInput> = {}) {
  const ended = ['decode-0', 'prefill-0'].map((name) => {
    return { id: name, name, endedMs: ENDED_MS, transferring: true, movedMs: ENDED_MS, endsOfPlace: 4, errors: 3 };
  });
  return verdictOf({
    origin: { kind: 'serve', name: 'x', directories: [] },
    takenMs: NOW_MS,
    observedSinceMs: 0,
    agents: [agentModel('decode-0'), agentModel('prefill-0')],
    ended,
    maintenance,
    ...about,
  }).findings.map((finding) => ({ level: levelOf(finding), names: finding.names, sentence: finding.sentence }));
}

it('makes notes of ends within it, whatever they would be', () => {
  const all = { beginMs: ENDED_MS - 1000, endMs: ENDED_MS + 1000, text: 'new image' };
  const [note, ...more] = findings([all]);
  expect(more).toEqual([]);
  expect(note).toMatchObject({ level: 'note', names: ['decode-0', 'prefill-0'] });
  expect(note!.sentence).toMatch(/; announced: new image$/);
  expect(findings([{ beginMs: all.beginMs, endMs: all.endMs }])[0]!.sentence).toMatch(/; maintenance was announced$/);
});

it('is only for the time and the agents that it names', () => {
  const levels = (one: Maintenance) => findings([one]).map(({ level, names }) => `${level} ${names!.join()}`);
  const time = { beginMs: ENDED_MS, endMs: ENDED_MS };
  expect(levels({ ...time, agent: 'decode-*' })).toEqual(['alarm prefill-0', 'note decode-0']);
  expect(levels({ ...time, agent: 'decode-?' })).toEqual(['alarm prefill-0', 'note decode-0']);
  expect(levels({ ...time, agent: '*-0' })).toEqual(['note decode-0,prefill-0']);
  for (const agent of ['decode', 'ecode-0', 'decode-0?', '']) {
    expect(levels({ ...time, agent })).toEqual(['alarm decode-0', 'alarm prefill-0']);
  }
  expect(levels({ beginMs: ENDED_MS + 1, endMs: NOW_MS })).toEqual(['alarm decode-0', 'alarm prefill-0']);
  expect(levels({ beginMs: 0, endMs: ENDED_MS - 1 })).toEqual(['alarm decode-0', 'alarm prefill-0']);
});

it('takes no time for a glob of many stars', () => {
  const agent = `${'*a'.repeat(90)}b`;
  const name = 'a'.repeat(5000);
  const ended = [{ id: 1, name, endedMs: ENDED_MS, errors: 1 }];
  expect(findings([{ beginMs: 0, endMs: NOW_MS, agent }], { ended })).toMatchObject([{ level: 'alarm' }]);
});

it('makes notes of slow transfers while it lasts', () => {
  const fact = (name: string) => ({
    ...{ kind: 'slow-transfers', id: name, name, direction: 'receive' },
    ...{ sinceMs: ENDED_MS, saidMs: ENDED_MS, factor: 4, usualUs: 10, nowUs: 40, classes: [] },
  });
  const slowness = [fact('decode-0'), fact('prefill-0')] as unknown as NonNullable<VerdictInput['slowness']>;
  const open = { beginMs: ENDED_MS, endMs: NOW_MS, agent: 'decode-*', text: 'firmware' };
  const [alarm, note] = findings([open], { slowness, ended: [] });
  expect([alarm, note]).toMatchObject([
    { level: 'alarm', names: ['prefill-0'] },
    { level: 'note', names: ['decode-0'] },
  ]);
  expect(note!.sentence).toMatch(/; announced: firmware$/);
  const over = findings([{ ...open, endMs: NOW_MS - 1 }], { slowness, ended: [] });
  expect(over.map(({ level }) => level)).toEqual(['alarm']);
});

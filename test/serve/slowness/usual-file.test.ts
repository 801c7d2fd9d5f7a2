import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { UsualFile } from '../../../src/serve/slowness/usual-file.js';
import { StatePlace } from '../../../src/serve/state/state-place.js';
import { SlownessJudge } from '../../../src/view/slowness/slowness-judge.js';
import { temporaryDirectory } from '../../support/live.js';
import { SizedProgram, type Speed, STEP_MS } from '../../support/sized-program.js';

const SLOW: Speed = { bytesPerUs: 1200 };
const KEPT = ['.nixl-otel', '.serve', 'usual-times.json'];

/** A serve with one agent, whose ring is in the directory. */
function serve(directory: string, program: SizedProgram, beginMs: number) {
  const place = new StatePlace();
  const said: string[] = [];
  Object.assign(place, { complain: (text: string) => said.push(text) });
  place.take({ snapshot: { places: [] }, agents: [{ directory }] });
  const judge = new SlownessJudge();
  const file = new UsualFile(place, judge);
  let ms = beginMs;
  return {
    judge,
    said,
    step(speed?: Speed): void {
      ms += STEP_MS;
      judge.take(ms, [{ id: 1, name: 'agent', place: `${directory}/agent`, timeBySize: program.timeBySize }]);
      file.take(ms);
      program.step(speed);
    },
    end: () => file.write(ms),
  };
}

test('a restart of serve does not take slow transfers as usual', () => {
  const directory = temporaryDirectory();
  const program = new SizedProgram();
  const first = serve(directory, program, 0);
  for (let i = 0; i < 60; i++) first.step();
  first.end();
  expect(first.said).toEqual([]);
  const second = serve(directory, program, 300_000);
  for (let i = 0; i < 12; i++) second.step(SLOW);
  expect(second.judge.facts).toMatchObject([{ kind: 'slow-transfers', name: 'agent' }]);
  const other = temporaryDirectory();
  const without = serve(other, program, 300_000);
  for (let i = 0; i < 12; i++) without.step(SLOW);
  expect(without.judge.facts).toEqual([]);
});

test.each([
  ['no JSON', '{'],
  ['another version', '{"version":9}'],
  ['no curves', '{"version":1,"keptMs":5,"agents":[]}'],
  [
    'a time that is no number',
    '{"version":1,"keptMs":5,"curves":{"transmit":[],"receive":[]},"agents":[{"place":"/a","receive":{"blocks":1,"bytesPerSecond":1,"flushSize":1,"classes":[{"p10":"x"}]}}]}',
  ],
])('a file with %s is reported, ignored and replaced', (_, text) => {
  const directory = temporaryDirectory();
  mkdirSync(path.join(directory, '.nixl-otel', '.serve'), { recursive: true, mode: 0o700 });
  const file = path.join(directory, ...KEPT);
  writeFileSync(file, text, { mode: 0o600 });
  const program = new SizedProgram();
  const one = serve(directory, program, 0);
  for (let i = 0; i < 30; i++) one.step();
  expect(one.said).toHaveLength(1);
  expect(one.said[0]).toContain('usual-times.json is ignored');
  one.end();
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    version: 1,
    agents: [{ place: `${directory}/agent` }],
  });
});

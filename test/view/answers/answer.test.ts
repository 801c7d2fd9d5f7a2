import { expect, it } from 'vitest';
import { isHistoryAnswer } from '../../../src/top/past.js';
import { API, isAgentsAnswer } from '../../../src/view/answers/answer.js';
import { isIncidentsAnswer } from '../../../src/view/answers/incidents-answer.js';
import { isSizesAnswer } from '../../../src/view/answers/sizes-answer.js';

it.each([
  [isAgentsAnswer, {}],
  [isHistoryAnswer, { agentTimesMs: [] }],
  [isSizesAnswer, { recentMs: 1 }],
  [isIncidentsAnswer, { incidents: [] }],
])('tells an answer by its fields: %o', (isAnswer, fields) => {
  expect(isAnswer({ api: API, ...fields })).toBe(true);
  for (const other of [undefined, null, 'text', [], fields, { api: 'nixl-otel/v0', ...fields }]) {
    expect(isAnswer(other)).toBe(false);
  }
  expect(isAnswer({ api: API })).toBe(isAnswer === isAgentsAnswer);
});

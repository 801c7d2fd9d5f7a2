/** Answers about one sample: shared, made one after the other, and not for clients that have gone. */
import { expect, it } from 'vitest';
import { AllGone, SampleAnswers } from '../../../src/serve/api/sample-answers.js';

const sample = () => ({}) as never;
const client = (destroyed = false) => ({ destroyed }) as never;
const textOf = async (answer: Promise<Uint8Array>) => Buffer.from(await answer).toString();

it('makes an answer once for all that ask for it, and anew for another sample', async () => {
  const answers = new SampleAnswers();
  let made = 0;
  const make = () => Promise.resolve(String(++made));
  const first = sample();
  const ask = (of: never) => textOf(answers.of(of, 'question', client(), make));
  expect(await Promise.all([ask(first), ask(first)])).toEqual(['1\n', '1\n']);
  expect(await ask(first)).toBe('1\n');
  expect(await ask(sample())).toBe('2\n');
});

it('makes one answer at a time, and none for clients that have gone meanwhile', async () => {
  const answers = new SampleAnswers();
  const of = sample();
  let end = (_: string): void => {};
  const slow = answers.of(of, 'slow', client(), () => new Promise((resolve) => (end = resolve)));
  const begun: string[] = [];
  const make = (name: string) => () => Promise.resolve(String(begun.push(name)));
  const gone = answers.of(of, 'gone', client(true), make('gone'));
  const shared = [client(true), client()].map((one) => answers.of(of, 'shared', one, make('shared')));
  gone.catch(() => {});
  await new Promise(setImmediate);
  expect(begun).toEqual([]);
  end('slow');
  expect(await textOf(slow)).toBe('slow\n');
  await expect(gone).rejects.toThrow(AllGone);
  expect(await Promise.all(shared.map(textOf))).toEqual(['1\n', '1\n']);
  expect(begun).toEqual(['shared']);
  // The next client with the question of those that have gone gets an answer.
  expect(await textOf(answers.of(of, 'gone', client(), make('gone')))).toBe('2\n');
});

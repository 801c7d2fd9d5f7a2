/** Parsers of flags, made of the shapes of values. */
import { InvalidArgumentError } from 'commander';
import { Refusal, type Shape } from '../settings/shape.js';

/** Makes commander's parser of a shape. */
export function parserOf<T>({ parse }: Shape<T>): (text: string, before?: unknown) => T {
  return (text, before) => {
    try {
      return parse!(text, before);
    } catch (error) {
      if (error instanceof Refusal) throw new InvalidArgumentError(`Allowed: ${error.message}.`);
      throw error;
    }
  };
}

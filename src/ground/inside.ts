/** An argument of a public constructor that only this package can make. Anything else in its place has no effect. */
export class Inside<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  static valueOf<T>(given: Inside<T> | undefined): T | undefined {
    return given instanceof Inside ? given.#value : undefined;
  }
}

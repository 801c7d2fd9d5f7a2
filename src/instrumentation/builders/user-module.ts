/** Modules that a user names: how a path is told from a plain name, and what is made of an export. */

export const MODULE_PATH = /^\.{0,2}\//;

/** A class is called with `new`. Throws what it throws. */
export function madeBy<A extends unknown[]>(maker: (...args: A) => unknown, ...args: A): unknown {
  const isClass = /^class\b/.test(Function.prototype.toString.call(maker));
  return isClass ? Reflect.construct(maker, args) : maker(...args);
}

/** What may be known of a builder: the object itself, or the file that one is loaded from. */
export interface BuilderCode {
  readonly name: string;
  readonly file?: string;
}

type BuilderRunner = <T>(builder: BuilderCode, work: () => T) => T;

let runner: BuilderRunner = (_, work) => work();

/** For serve, which follows what a builder begins. In a service the code runs as it is: its process is not ours. */
export function runBuilderCodeBy(run: BuilderRunner): void {
  runner = run;
}

export function runBuilderCode<T>(builder: BuilderCode, work: () => T): T {
  return runner(builder, work);
}

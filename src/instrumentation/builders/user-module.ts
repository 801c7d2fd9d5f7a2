/** Modules that a user names: how a path is told from a plain name, and what is made of an export. */

export const MODULE_PATH = /^\.{0,2}\//;

/** A class is called with `new`. Throws what it throws. */
export function madeBy<A extends unknown[]>(maker: (...args: A) => unknown, ...args: A): unknown {
  const isClass = /^class\b/.test(Function.prototype.toString.call(maker));
  return isClass ? Reflect.construct(maker, args) : maker(...args);
}

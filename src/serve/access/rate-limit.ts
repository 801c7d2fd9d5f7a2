/** Limit on the requests of all clients, as `rate_limit` of a web configuration says it. */

export interface RateLimit {
  readonly intervalMs: number;
  readonly burst: number;
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3, // the micro sign
  μs: 1e-3, // the Greek letter
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Parses a duration of Go. A number is nanoseconds. Returns undefined for other values. */
export function durationMs(given: unknown): number | undefined {
  if (Number.isInteger(given)) return (given as number) * UNITS['ns']!;
  if (typeof given !== 'string') return undefined;
  const [, sign, text = ''] = /^([-+]?)(.*)$/s.exec(given)!;
  if (text === '0') return 0;
  const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy;
  const parts = [...text.matchAll(part)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text) return undefined;
  const sum = parts.reduce((all, [, count, unit]) => all + Number(count) * UNITS[unit!]!, 0);
  return sign === '-' ? -sum : sum;
}

/** A bucket of `burst` requests, to which each interval adds one. */
export class RequestRate {
  readonly limit: RateLimit;
  #left: number;
  #atMs: number;

  constructor(limit: RateLimit, nowMs: number) {
    this.limit = limit;
    this.#left = limit.burst;
    this.#atMs = nowMs;
  }

  allows(nowMs: number): boolean {
    const added = (nowMs - this.#atMs) / this.limit.intervalMs;
    this.#left = Math.min(this.limit.burst, this.#left + added);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}

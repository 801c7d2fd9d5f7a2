/** Agents by the times of their transfers, as operators report them, instead of by a link and a program. */
import { Random, seedOf } from './random.js';
import type { RingMark, SeenEvent, SeenMark, SeenTransfer } from './shapes.js';

/** One transfer each `everyS`; numbers may depend on the time in seconds. */
export interface ScriptedTransfers {
  readonly everyS: number | ((t: number) => number);
  readonly bytes: number;
  readonly us: (t: number, random: Random) => number;
  readonly postUs: (t: number) => number;
  readonly direction?: 'tx' | 'rx';
  readonly fromS?: number;
  readonly untilS?: number;
}

export interface ScriptedAgent {
  readonly name: string;
  readonly fromS?: number;
  readonly endsS?: number;
  /** Time between two flushes; default: that of the stage. */
  readonly flushS?: number;
  readonly transfers?: readonly ScriptedTransfers[];
  readonly events?: readonly {
    readonly event: string;
    readonly value: number;
    readonly everyS: number;
    readonly untilS?: number;
  }[];
  readonly marks?: readonly { readonly mark: RingMark; readonly atS: number }[];
}

/** Times vary by this much, as on a quiet link. */
const NOISE = 0.05;

type Seen = SeenTransfer | SeenEvent | SeenMark;

export class Script {
  readonly #pending: Seen[] = [];

  constructor(agents: readonly ScriptedAgent[], seed: number, seconds: number) {
    for (const agent of agents) {
      for (const [i, row] of (agent.transfers ?? []).entries()) {
        const random = new Random(seedOf(seed, `${agent.name} ${i}`));
        for (const one of seen(agent, row, random, seconds)) this.#pending.push(flushed(one, agent));
      }
      for (const { event, value, everyS, untilS = seconds } of agent.events ?? [])
        for (let t = everyS; t < untilS; t += everyS)
          this.#pending.push(flushed({ agent: agent.name, seenUs: t * 1e6, event, value }, agent));
      for (const { mark, atS } of agent.marks ?? []) this.#pending.push({ agent: agent.name, seenUs: atS * 1e6, mark });
    }
    this.#pending.sort((a, b) => b.seenUs - a.seenUs);
  }

  advance(untilMs: number): Seen[] {
    const events = [];
    while (this.#pending.length > 0 && this.#pending.at(-1)!.seenUs <= untilMs * 1000)
      events.push(this.#pending.pop()!);
    return events;
  }
}

/** Moves it to the flush that writes it. */
function flushed<Of extends Seen>(one: Of, { fromS = 0, flushS }: ScriptedAgent): Of {
  if (flushS === undefined) return one;
  const flushes = Math.ceil((one.seenUs / 1e6 - fromS) / flushS);
  return { ...one, seenUs: (fromS + flushes * flushS) * 1e6 };
}

function* seen(
  { name, fromS = 0, endsS }: ScriptedAgent,
  row: ScriptedTransfers,
  random: Random,
  seconds: number,
): Generator<SeenTransfer> {
  const { bytes, us, postUs, direction = 'rx' } = row;
  const endS = Math.min(row.untilS ?? seconds, endsS ?? seconds);
  const next = typeof row.everyS === 'number' ? () => row.everyS as number : row.everyS;
  for (let t = Math.max(fromS, row.fromS ?? 0); t < endS; t += next(t)) {
    const timeUs = Math.round(us(t, random) * random.around(NOISE));
    const seenUs = t * 1e6 + timeUs;
    if (seenUs > endS * 1e6) continue;
    const postedUs = Math.min(timeUs, Math.round(postUs(t) * random.around(NOISE)));
    yield { agent: name, seenUs, postUs: postedUs, timeUs, bytes, direction, lost: false };
  }
}

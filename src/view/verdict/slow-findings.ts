/** Findings about slow transfers and posts, with the cause as far as the times of the sizes tell it. Pure. */
import { momentText } from '../../ground/figures/clock.js';
import { binaryText, bytesRateText, listed, numberText, timeText } from '../../ground/figures/figure.js';
import { isSlowAlarm, type SlowClass, type SlowFact } from '../slowness/slow-facts.js';
import type { AgentModel } from '../model/agent-model.js';
import { type WayKind, wayText } from '../../way/way.js';
import { agentsNamed } from './past-trouble.js';
import type { Finding, VerdictInput } from './types.js';

/** What the times of the sizes tell. */
type Cause = 'link' | 'from-size' | 'some-sizes' | 'untold' | 'posting' | 'asking' | 'load' | 'start' | 'uneven';

interface CauseText {
  readonly word: string;
  readonly advice?: string;
}

const SLOW = 'Transfers slow';
const TEXTS: Readonly<Record<Cause, CauseText>> = {
  link: {
    word: SLOW,
    advice:
      'Check the network of the host, and whether the backend still uses its fast devices: UCX falls back to TCP in silence.',
  },
  'from-size': {
    word: SLOW,
    advice: 'Check the path that the backend takes from this size on, and the network of the host.',
  },
  'some-sizes': {
    word: SLOW,
    advice: 'Check what differs for transfers of this size: peer, memory, path of the backend.',
  },
  untold: {
    word: SLOW,
    advice:
      'Either the network is slow, or the program asks late for the end of its transfers: transfers of several sizes would tell.',
  },
  posting: {
    word: 'Posts slow',
    advice: 'The network is not the cause: look for more descriptors in a transfer, or a busy CPU.',
  },
  asking: {
    word: 'Completed late',
    advice: 'The program may ask later for the end of its transfers: its steps may be longer.',
  },
  load: { word: 'Busy' },
  start: { word: 'Cold start' },
  uneven: {
    word: 'Uneven',
    advice:
      'There is no earlier time to compare with: this may have been slow from the start, go another way (a disk, another card), or be asked for late. If it is meant to be so, take it as usual.',
  },
};
/** A class must grow by this part of what the link would add, to be slow by the same cause. */
const SAME_CAUSE = 1 / 3;
/** Growth that stands out from chance, as a part of the usual time. */
const VISIBLE = 0.5;

type SlowInput = Pick<VerdictInput, 'slowness' | 'takenMs'> & Partial<Pick<VerdictInput, 'agents'>>;

export function slowFindings({ slowness = [], takenMs, agents = [] }: SlowInput): Finding[] {
  const groups = new Map<string, SlowFact[]>();
  for (const fact of slowness) {
    if (goesOtherWay(fact, agents)) continue;
    // Words about the agent's own direction, or about another agent.
    const isOwn = fact.against?.id === fact.id;
    const key = `${fact.kind} ${causeOf(fact)} ${fact.direction} ${isOwn}`;
    groups.set(key, [...(groups.get(key) ?? []), fact]);
  }
  return [...groups.values()]
    .map((facts) => [...facts].sort((a, b) => b.factor - a.factor))
    .sort(([a], [b]) => Number(isSlowAlarm(b!)) - Number(isSlowAlarm(a!)) || b!.factor - a!.factor)
    .map((facts) => findingOf(facts, takenMs, agents));
}

function findingOf(facts: readonly SlowFact[], takenMs: number, agents: VerdictInput['agents']): Finding {
  const worst = facts[0]!;
  const { kind } = worst;
  const { word, advice } = TEXTS[causeOf(worst)];
  const sinceMs = Math.min(...facts.map((fact) => fact.sinceMs));
  const subject = agentsNamed(facts.map((fact) => fact.name));
  return {
    kind,
    ...(isSlowAlarm({ kind }) ? { tone: 'warn', shape: 'triangle' } : { tone: 'info', shape: 'clock' }),
    word,
    sentence: `${subject}: ${whatOf(worst)}${whenText(kind, momentText(sinceMs, takenMs))}. ${whyOf(worst)}${goingText(worst, agents, takenMs)}`,
    ...(advice !== undefined && { advice }),
    agents: facts.map(({ id }) => id),
    sinceMs,
    size: { value: worst.factor, text: `${numberText(worst.factor)} times as long` },
    cause: whyOf(worst),
  };
}

function whenText(kind: SlowFact['kind'], moment: string): string {
  if (kind === 'uneven') return ` (seen since ${moment})`;
  return kind === 'cold-start' ? ` at ${moment}` : ` since ${moment}`;
}

/** Returns true for an uneven direction whose bytes go another way than the ones in comparison, as a disk beside a network. */
function goesOtherWay({ id, direction, against }: SlowFact, agents: readonly AgentModel[]): boolean {
  if (against === undefined) return false;
  const kindOf = (of: AgentModel['id'], way: SlowFact['direction']): WayKind | undefined => {
    const ways = agents.find((agent) => agent.id === of)?.way;
    const going = way === 'transmit' ? ways?.tx : ways?.rx;
    return going?.sure === 'certain' ? going.kind : undefined;
  };
  const [own, other] = [kindOf(id, direction), kindOf(against.id, against.direction)];
  return own !== undefined && other !== undefined && own !== other;
}

/** The way of the worst agent's bytes, if it is known, and the one before it. */
function goingText({ id, kind, direction }: SlowFact, agents: VerdictInput['agents'], takenMs: number): string {
  const way = kind === 'cold-start' ? undefined : agents.find((agent) => agent.id === id)?.way;
  const going = direction === 'transmit' ? way?.tx : way?.rx;
  const text = going && wayText(going);
  if (going === undefined || text === undefined || going.kind === 'neither') return '';
  const before =
    going.before === undefined ? '' : ` since ${momentText(going.sinceMs, takenMs)}, before ${going.before}`;
  return `. Its bytes go ${text}${before}`;
}

function whatOf({ kind, id, direction, factor, against, againstOthers, oneDirection }: SlowFact): string {
  const way = direction === 'transmit' ? 'tx' : 'rx';
  if (kind === 'cold-start') return `a first transfer (${way}) took ${numberText(factor)} times as long as later ones`;
  if (against !== undefined)
    return `${way} takes ${numberText(factor)} times as long as ${againstText(id, direction, against)}`;
  const usual = againstOthers === true ? 'as earlier agents of this host took' : 'as usual';
  const other = oneDirection === true ? ` (${way === 'tx' ? 'rx' : 'tx'} is as usual)` : '';
  const what = kind === 'slow-posts' ? `posts (${way}) take` : `transfers (${way}) take`;
  return `${what} ${numberText(factor)} times as long ${usual}${other}`;
}

function againstText(id: SlowFact['id'], direction: string, against: NonNullable<SlowFact['against']>): string {
  if (against.direction === direction) return `that of ${against.name}`;
  const other = against.direction === 'transmit' ? 'tx' : 'rx';
  return against.id === id ? `its ${other}` : `${other} of ${against.name}`;
}

function whyOf(fact: SlowFact): string {
  const slow = fact.classes.filter((one) => one.slow);
  const largest = slow.at(-1);
  if (largest === undefined) return '';
  const times = `${binaryText(largest.meanBytes)} takes ${timeText(largest.timeUs)}, usually ${timeText(largest.usualUs)}`;
  switch (causeOf(fact)) {
    case 'posting': {
      const of = `${timeText(largest.postUs)} of ${timeText(largest.timeUs)} is posting, usually ${timeText(largest.usualPostUs)}`;
      return `At ${binaryText(largest.meanBytes)}, ${of}`;
    }
    case 'link':
      return `The time grows with the bytes, at ${bytesRateText(rateOf(fact, 'timeUs'))}, before ${bytesRateText(rateOf(fact, 'usualUs'))}: ${times}`;
    case 'from-size':
      return `From ${sizeText(slow[0]!)} up: ${times}. Smaller ones are as fast as usual`;
    case 'some-sizes':
      return `Only at ${listed(slow.map(sizeText))}: ${times}`;
    case 'untold':
      return `${times}. One size cannot tell a slow link from late asking`;
    case 'asking':
      return fact.classes.length === 1
        ? `${times}. One size cannot tell late asking from a slower link`
        : `All sizes take longer by about the same time: ${times}`;
    case 'load':
      return `More transfers are open at once: ${times}`;
    case 'uneven':
      return `${binaryText(largest.meanBytes)} takes ${timeText(largest.timeUs)}, there ${timeText(largest.usualUs)}`;
    case 'start': {
      const posting = largest.postUs === undefined ? '' : `, of which posting ${timeText(largest.postUs)}`;
      return `${binaryText(largest.meanBytes)} took ${timeText(largest.timeUs)}${posting}; later ones take ${timeText(largest.usualUs)}`;
    }
  }
}

function sizeText({ upToBytes }: SlowClass): string {
  return upToBytes === null ? `over ${binaryText(2 ** 30)}` : binaryText(upToBytes);
}

/** Returns the rate at which time grows with the bytes, from the smallest class to the largest that is slow. */
function rateOf({ classes }: SlowFact, time: 'timeUs' | 'usualUs'): number {
  const largest = classes.findLast(({ slow }) => slow)!;
  const [smallest] = classes;
  if (smallest === largest || smallest === undefined || largest[time] <= smallest[time]) {
    return (largest.meanBytes * 1e6) / Math.max(1, largest[time]);
  }
  return ((largest.meanBytes - smallest.meanBytes) * 1e6) / (largest[time] - smallest[time]);
}

function causeOf({ kind, classes, ambiguous }: SlowFact): Cause {
  if (kind === 'slow-posts') return 'posting';
  if (kind === 'late-completion') return 'asking';
  if (kind === 'busy') return 'load';
  if (kind === 'cold-start') return 'start';
  if (kind === 'uneven') return 'uneven';
  const largest = classes.findLast(({ slow }) => slow);
  if (ambiguous === true || classes.length === 1 || largest === undefined) return 'untold';
  const perByte = (largest.timeUs - largest.usualUs) / largest.meanBytes;
  const spared = (one: SlowClass): boolean => {
    const expected = perByte * one.meanBytes;
    return expected >= VISIBLE * one.usualUs && one.timeUs - one.usualUs < SAME_CAUSE * expected;
  };
  if (classes.some((one) => one.meanBytes > largest.meanBytes && spared(one))) return 'some-sizes';
  return classes.some((one) => one.meanBytes < largest.meanBytes && spared(one)) ? 'from-size' : 'link';
}

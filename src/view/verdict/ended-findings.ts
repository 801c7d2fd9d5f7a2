/** Findings about agents that ended. They say what was seen: a ring looks alike after a clean stop and after a kill. Pure. */
import { momentText, spanText } from '../../ground/figures/clock.js';
import { bytesText, listed, plural } from '../../ground/figures/figure.js';
import { LIVES_MS, SUCCESSOR_MS } from './succession.js';
import type { AgentModel } from '../model/agent-model.js';
import { quietFindings, quietWith } from './quiet-findings.js';
import type { EndedAgent, Finding, VerdictInput } from './types.js';

const MAX_SEPARATE = 3;
/** Ends of one place in ten minutes: two may be a restart that was repeated by hand. */
const CRASH_LOOP = 3;
/** Two samples: an agent that transferred then did so up to its end. */
const UP_TO_END_MS = 10_000;

interface EndText {
  readonly word: string;
  readonly many: string;
  readonly advice?: (isOne: boolean) => string;
}

const logs = (isOne: boolean): string =>
  isOne ? 'Its log and the log of its host say why.' : 'Their logs and the log of their host say why.';
/** Worst first. */
const TEXTS = {
  loop: { word: 'Ends repeat', many: 'Ends repeat', advice: logs },
  errors: { word: 'Ended with errors', many: 'Ended with errors', advice: logs },
  missing: { word: 'Agent missing', many: 'Agents missing', advice: logs },
  note: { word: 'Agent ended', many: 'Agents ended' },
} as const satisfies Record<string, EndText>;

/** An end, with the agents that went quiet at the same time. */
type NotedEnd = EndedAgent & { readonly quiet: readonly AgentModel[] };
type Weight = keyof typeof TEXTS;
const WEIGHTS = Object.keys(TEXTS) as Weight[];

/** Agents that went quiet when another one ended are in its finding. */
export function lifeFindings(input: VerdictInput): Finding[] {
  const ends = endedFindings(input);
  return [...ends, ...quietFindings(input, new Set(ends.flatMap(({ agents }) => agents)))];
}

export function endedFindings({ ended = [], takenMs, agents }: VerdictInput): Finding[] {
  const hasQuiet = agents.some(({ quietSinceMs }) => quietSinceMs !== undefined);
  const weighed = ended.map((one): { end: NotedEnd; weight: Weight | undefined } => {
    const end = { ...one, quiet: hasQuiet ? quietWith(one, agents) : [] };
    return { end, weight: weightOf(end, takenMs) };
  });
  return WEIGHTS.flatMap((weight) => {
    const ends = weighed.flatMap((one) => (one.weight === weight ? [one.end] : []));
    // A note for each end would hide other notes.
    const most = weight === 'note' ? 1 : MAX_SEPARATE;
    if (ends.length <= most) return ends.map((end) => findingOf(weight, [end], takenMs));
    return [findingOf(weight, ends, takenMs)];
  });
}

function weightOf(
  { endedMs, transferring, errors, successor, endsOfPlace = 1, quiet, announced }: NotedEnd,
  nowMs: number,
): Weight | undefined {
  const isRecent = nowMs - endedMs < LIVES_MS;
  // The end of its successor says more.
  if (successor?.endedMs !== undefined) return undefined;
  if (announced !== undefined) return isRecent ? 'note' : undefined;
  if (endsOfPlace >= CRASH_LOOP && isRecent) return 'loop';
  if (errors !== undefined && (successor === undefined || isRecent)) return 'errors';
  // The passive side of transfers counts none itself: its peers stop with it.
  const wasUsed = transferring === true || quiet.length > 0;
  if (wasUsed && successor === undefined && nowMs - endedMs >= SUCCESSOR_MS) return 'missing';
  return isRecent ? 'note' : undefined;
}

function findingOf(weight: Weight, ends: readonly NotedEnd[], takenMs: number): Finding {
  const { word, many, advice }: EndText = TEXTS[weight];
  const isOne = ends.length === 1;
  const sinceMs = Math.min(...ends.map(({ endedMs }) => endedMs));
  return {
    kind: 'ended',
    tone: weight === 'note' ? 'info' : 'bad',
    shape: 'cross',
    word: isOne ? word : many,
    sentence: isOne ? sentenceOf(weight, ends[0]!, takenMs) : sentenceOfAll(weight, ends, sinceMs, takenMs),
    ...(advice === undefined ? {} : { advice: advice(isOne) }),
    agents: [...new Set([...ends, ...ends.flatMap(({ quiet }) => quiet)].map(({ id }) => id))],
    sinceMs,
  };
}

function sentenceOf(weight: Weight, end: NotedEnd, nowMs: number): string {
  const { name, endedMs, memoryBytes, errors, errorsSinceMs = endedMs, successor, endsOfPlace = 1 } = end;
  const parts = [
    `${name} ended at ${momentText(endedMs, nowMs)}${transferText(end)}`,
    ...(errors === undefined ? [] : [`after ${plural(errors, 'error')} since ${momentText(errorsSinceMs, nowMs)}`]),
    ...(memoryBytes === undefined ? [] : [`with ${bytesText(memoryBytes)} registered`]),
  ];
  const then =
    weight === 'loop'
      ? `${endsOfPlace} lives of its place ended within ${spanText(LIVES_MS)}`
      : weight === 'missing'
        ? 'nothing has come in its place'
        : successor === undefined
          ? ''
          : successorText(end, successor);
  return [parts.join(', '), then, quietText(end.quiet), end.announced ?? ''].filter((text) => text !== '').join('; ');
}

function quietText(quiet: readonly AgentModel[]): string {
  const names = [...new Set(quiet.map(({ name }) => name))];
  return names.length === 0 ? '' : `${listed(names)} ${names.length === 1 ? 'has' : 'have'} been quiet since then`;
}

function transferText({ endedMs, transferring, movedMs }: EndedAgent): string {
  if (movedMs === undefined) return transferring === undefined ? '' : ', no transfer of it was seen';
  if (endedMs - movedMs <= UP_TO_END_MS) return ' while it transferred';
  return `, ${spanText(endedMs - movedMs)} after its last transfer`;
}

function successorText({ name, endedMs }: EndedAgent, successor: NonNullable<EndedAgent['successor']>): string {
  const laterMs = successor.sinceMs - endedMs;
  if (successor.name === name) return `it started again ${spanText(laterMs)} later`;
  return laterMs < 0
    ? `${successor.name} had come ${spanText(-laterMs)} before`
    : `${successor.name} came ${spanText(laterMs)} later`;
}

function sentenceOfAll(weight: Weight, ends: readonly NotedEnd[], sinceMs: number, nowMs: number): string {
  const transferring = ends.filter((end) => end.transferring === true).length;
  const errors = ends.reduce((sum, end) => sum + (end.errors ?? 0), 0);
  const succeeded = ends.filter(({ successor }) => successor !== undefined).length;
  const while_ =
    transferring === 0
      ? ''
      : transferring === ends.length
        ? ' while they transferred'
        : `, ${transferring} while transferring`;
  const parts = [
    `${plural(ends.length, 'agent')} ended since ${momentText(sinceMs, nowMs)}${while_}: ${listed(ends.map(({ name }) => name))}`,
    ...(errors === 0 ? [] : [`${plural(errors, 'error')} came before`]),
    ...(weight === 'missing' ? ['nothing has come in their place'] : []),
    ...(weight === 'loop' ? [`${CRASH_LOOP} or more lives of each place ended within ${spanText(LIVES_MS)}`] : []),
    ...(weight === 'note' && succeeded > 0
      ? [`${succeeded} of them ${succeeded === 1 ? 'has' : 'have'} a successor`]
      : []),
  ];
  const announced = [...new Set(ends.flatMap((end) => end.announced ?? []))];
  return [...parts, ...announced, quietText(ends.flatMap(({ quiet }) => quiet))]
    .filter((text) => text !== '')
    .join('; ');
}

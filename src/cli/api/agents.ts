/** Makes the answers of /api/v1/agents from a sample. Pure. */
import { atScale, type ExponentialTally, TALLY_SCALE } from '../../exponential.js';
import { oneLine } from '../../one-line.js';
import type { Percentiles } from '../figures/percentiles.js';
import type { AgentReading } from '../history/reading.js';
import type { Recorder, Sample } from '../history/recorder.js';
import { collectorLateMs } from '../http/health.js';
import type { FailingExporter } from '../verdict/types.js';
import {
  type AgentData,
  type AgentsAnswer,
  type AgentSummary,
  API,
  type ExponentialCounts,
  type ServeFacts,
} from './answer.js';
import { fold } from './others.js';

/** Further agents are summed up, so that an answer stays below a megabyte. */
export const MAX_LISTED_AGENTS = 256;
const MAX_LISTED_PROBLEMS = 50;
/** Sizes are usually powers of two: one bucket for each is enough. */
const SIZE_SCALE = 0;

/** Source of the values of an answer. */
export interface AnswerSource {
  readonly facts: ServeFacts;
  readonly recorder: Pick<Recorder, 'statuses' | 'record'>;
  readonly sample: Sample;
  readonly failingExporters: readonly FailingExporter[];
  /** Returns the GPUs of the agent's process, as CUDA_VISIBLE_DEVICES has them. */
  readonly gpusOf: (id: number) => string | undefined;
}

/** Returns the data of exported agents, as at /metrics, with their histograms. */
export function agentsAnswer(source: AnswerSource, mostAgents = MAX_LISTED_AGENTS): AgentsAnswer {
  return answerOf(
    source,
    fold(
      source.sample.readings.map((reading) => agentData(reading, source)),
      mostAgents,
    ),
  );
}

/** Returns the same without the histograms. */
export function agentsSummary(source: AnswerSource, mostAgents = MAX_LISTED_AGENTS): AgentsAnswer<AgentSummary> {
  return answerOf(
    source,
    fold(
      source.sample.readings.map((reading) => agentSummary(reading, source)),
      mostAgents,
    ),
  );
}

export function answerOf<Agent extends AgentSummary>(
  { facts, recorder, sample, failingExporters }: AnswerSource,
  { agents, folded }: Pick<AgentsAnswer<Agent>, 'agents' | 'folded'>,
): AgentsAnswer<Agent> {
  const { takenMs, problems, problemCount, stateProblems, collector } = sample.snapshot;
  const { recent, ends } = recorder.record;
  const lateMs = collectorLateMs(collector);
  return {
    api: API,
    ...facts,
    takenMs,
    errorStatuses: recorder.statuses.names,
    agents,
    folded,
    problems: problems
      .slice(0, MAX_LISTED_PROBLEMS)
      .map(({ path, state, reason }) => ({ path: oneLine(path), state, reason: oneLine(reason) })),
    problemCount,
    ended: ends.ended,
    stateProblems: stateProblems
      .slice(0, MAX_LISTED_PROBLEMS)
      .map(({ path, reason }) => ({ path: oneLine(path), reason: oneLine(reason) })),
    stateProblemCount: stateProblems.length,
    failingExporters,
    collector: {
      drainIntervalMs: collector.drainIntervalMs,
      sinceTickMs: Math.round(collector.sinceTickMs),
      ...(lateMs === undefined ? {} : { lateMs }),
    },
    ...recentTimes(recent.ofAll(sample.readings, 'transferTimes'), recent.ofAll(sample.readings, 'postTimes')),
  };
}

function agentSummary(reading: AgentReading, { recorder, sample, gpusOf }: AnswerSource): AgentSummary {
  const { agent, name, totals, errors, fill } = reading;
  const { recent, ends } = recorder.record;
  const { pid } = agent;
  const endedMs = ends.endedMs(agent.id);
  const gpus = gpusOf(agent.id);
  return {
    id: agent.id,
    agent: agent.agent,
    directory: agent.directory,
    name,
    life: agent.life,
    ...(pid === undefined ? {} : { pid }),
    startTimeMs: agent.startTimeMs,
    idleMs: Math.max(0, Math.round(sample.snapshot.takenMs - (agent.lastEventMs ?? agent.startTimeMs))),
    txBytes: Number(totals.txBytes),
    rxBytes: Number(totals.rxBytes),
    txRequests: Number(totals.txRequests),
    rxRequests: Number(totals.rxRequests),
    errors,
    memoryBytes: Number(agent.memoryInUse),
    memoryApproximate: agent.memoryApproximate,
    registeredBytes: Number(totals.registered),
    dropped: Number(totals.dropped),
    foundFull: agent.foundFull,
    foundFullMs: Math.round(agent.foundFullMs),
    capacity: agent.capacity,
    fill,
    restarts: agent.restarts,
    suspect: agent.suspect || agent.foreignMoves > 0,
    events: agent.events.reduce((all, { count }) => all + count, 0),
    wireVersion: agent.wireVersion,
    ...(endedMs === undefined ? {} : { endedMs }),
    troubles: sample.troubles.get(agent.id) ?? {},
    ...recentTimes(recent.of(reading, 'transferTimes'), recent.of(reading, 'postTimes')),
    ...(gpus === undefined ? {} : { gpus }),
  };
}

export function agentData(reading: AgentReading, source: AnswerSource): AgentData {
  const { totals, txSizes, rxSizes } = reading;
  return {
    ...agentSummary(reading, source),
    transferTimesUs: compact(totals.transferTimes),
    postTimesUs: compact(totals.postTimes),
    txSizes: compact(atScale(txSizes, SIZE_SCALE)),
    rxSizes: compact(atScale(rxSizes, SIZE_SCALE)),
  };
}

function recentTimes(transfer: Percentiles | undefined, post: Percentiles | undefined) {
  return {
    ...(transfer === undefined ? {} : { recentTransferTimeUs: transfer }),
    ...(post === undefined ? {} : { recentPostTimeUs: post }),
  };
}

const NO_VALUES: ExponentialTally = { scale: TALLY_SCALE, zeroCount: 0, offset: 0, counts: [] };

/** JSON has no typed arrays. */
export function compact({ scale, zeroCount, offset, counts }: ExponentialTally = NO_VALUES): ExponentialCounts {
  return { scale, zeroCount, offset, counts: Array.from(counts) };
}

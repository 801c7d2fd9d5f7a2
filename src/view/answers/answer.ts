/** The answer of /api/v1/agents: serve makes it, the live page and top read it. docs/json.md describes it for others. */
import type { WithKnown, ServedAgent } from '../model/agent-model.js';
import type { SlowFact } from '../slowness/slow-facts.js';
import type { HostPort } from '../../way/way.js';
import type { Incident } from '../incidents/incident.js';
import type { EndedAgent, FailingExporter, Maintenance } from '../verdict/types.js';

/** Path below the address of the page. A proxy may serve both below another path. */
export const AGENTS_PATH = 'api/v1/agents';
/** Path for POST alone. */
export const MAINTENANCE_PATH = 'api/v1/maintenance';
/** The same. */
export const ACCEPT_PATH = 'api/v1/accept';
/** Marks an answer. Within a version, fields are only added. */
export const API = 'nixl-otel/v1';
/** Id of the entry that sums up unlisted agents. */
export const OTHERS = -1;

export type ServeFacts = Pick<AgentsAnswer, 'version' | 'hostname' | 'directories' | 'globs' | 'startedMs'>;

/** With `detail=none` the agents have no histograms, with `agent=ID` there is one with all that serve knows of it. */
export interface AgentsAnswer<Agent extends ServedAgent = AgentData> {
  readonly api: typeof API;
  readonly version: string;
  readonly hostname: string;
  readonly directories: readonly string[];
  readonly globs: readonly string[];
  /** Start of the process. Another process has other agents under the same ids. */
  readonly startedMs: number;
  /** Time of the figures. Answers of the same time are the same. */
  readonly takenMs: number;
  /** In the order of `AgentModel.errors`. */
  readonly errorStatuses: readonly string[];
  readonly agents: readonly Agent[];
  /** Number of agents that the last entry sums up; 0 if it is a single agent. */
  readonly folded: number;
  readonly problems: readonly { readonly path: string; readonly state: string; readonly reason: string }[];
  /** Number of all problems, also of those that are not listed. */
  readonly problemCount: number;
  /** Agents that ended while they were transferring, in the last ten minutes, newest first; at most a hundred. */
  readonly ended: readonly EndedAgent[];
  /** Announced maintenance of the last day, newest first; absent without any. */
  readonly maintenance?: readonly Maintenance[] | undefined;
  /** State files that are not used: their agents' sums do not outlive this process. */
  readonly stateProblems: readonly { readonly path: string; readonly reason: string }[];
  readonly stateProblemCount: number;
  readonly failingExporters: readonly FailingExporter[];
  /** What is found about the speed of transfers. */
  readonly slowness: readonly SlowFact[];
  /** Number of agents that move and whose usual times are not known yet. */
  readonly unjudged: number;
  /** RDMA ports of the host; none without the driver, or where they are not visible. */
  readonly ports: readonly HostPort[];
  /** The newest incident of the last day that was an alarm and is over; absent without one. */
  readonly lastTrouble?: Incident;
  readonly collector: {
    readonly drainIntervalMs: number;
    /** Time since the collector thread's last turn. */
    readonly sinceTickMs: number;
    /** The same if it is too long; otherwise absent. */
    readonly lateMs?: number;
  };
  /** Times of all agents. */
  readonly recentTransferTimeUs?: ServedAgent['recentTransferTimeUs'];
  readonly recentPostTimeUs?: ServedAgent['recentPostTimeUs'];
}

/** An agent with its histograms. */
export type AgentData = ServedAgent & WithKnown<'transferTimesUs' | 'postTimesUs' | 'txSizes' | 'rxSizes'>;
/** The one agent of an answer to `agent=ID`. */
export type AgentDetail = AgentData & WithKnown<'path' | 'attributes'>;

/** Returns true for an answer of this package that has the field: other servers may have the same address. */
export function isAnswerWith(json: unknown, field: string): boolean {
  return typeof json === 'object' && json !== null && 'api' in json && json.api === API && field in json;
}

export function isAgentsAnswer(json: unknown): json is AgentsAnswer {
  return isAnswerWith(json, 'api');
}

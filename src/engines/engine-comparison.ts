/** Compares what an engine says of its transfers with the rings of its agents. Pure. */
import { dateAndTime } from '../ground/figures/clock.js';
import { listed, plural, wholeText, withUnit } from '../ground/figures/figure.js';
import type { AgentLife } from '../ground/tally.js';
import type { EngineIdentity } from './engine-identity.js';
import type { EnginePageSums, MovedSums, PageMoved } from './engine-page.js';

/** An agent's sums in its ring. */
export interface RingAgent {
  /** For people. */
  readonly label: string;
  readonly engine?: EngineIdentity | undefined;
  readonly life: AgentLife;
  /** Time at which the sums were 0. */
  readonly startTimeMs?: number | undefined;
  readonly lost: number;
  readonly foundFull: number;
  readonly suspect: boolean;
  readonly moved: MovedSums;
}

/** Returns the agents that the page counts: those of its port, or of its model where an instance has no known port. */
export function agentsOfPage<Agent extends RingAgent>(
  agents: readonly Agent[],
  { page, models }: EnginePageSums,
  port: string,
): Agent[] {
  const parts = agents.filter(({ engine, life }) => life !== 'dead' && engine?.part === page.series?.part);
  const ofPort = parts.filter(({ engine }) => engine?.instance === `:${port}`);
  if (ofPort.length > 0) return ofPort;
  return parts.filter(({ engine }) => engine?.instance === undefined && models.includes(engine?.model ?? ''));
}

export function movedSum(agents: readonly RingAgent[]): MovedSums {
  const sum = (key: keyof MovedSums): number => agents.reduce((all, { moved }) => all + moved[key], 0);
  return { transfers: sum('transfers'), bytes: sum('bytes'), transferUs: sum('transferUs'), postUs: sum('postUs') };
}

/** Returns true if the engine or one of its agents began anew between two looks. */
export function isAnotherLife(first: EngineLook, second: EngineLook): boolean {
  const lives = ({ agents, page }: EngineLook): string =>
    JSON.stringify([page.startedMs, agents.map(({ label, startTimeMs }) => [label, startTimeMs]).sort()]);
  const hasFallen = MEASURES.some(([key]) => (second.page.moved?.[key] ?? 0) < (first.page.moved?.[key] ?? 0));
  return hasFallen || lives(first) !== lives(second);
}

/** An engine's page, and the agents that it counts. */
export interface EngineLook {
  readonly page: EnginePageSums;
  readonly agents: readonly RingAgent[];
}

/** The engine's sums lie in time between those of the rings. */
export interface ComparedSums {
  readonly engine: string;
  readonly before: MovedSums;
  readonly page: PageMoved;
  readonly after: MovedSums;
}

export interface ComparedSum {
  readonly subject: string;
  readonly what: string;
  /** The rings have fewer, the same, or more. */
  readonly differs: -1 | 0 | 1;
}

const MEASURES = [
  ['transfers', 'transfers', ''],
  ['bytes', 'bytes', 'B'],
  ['transferUs', 'sum of times', 'µs'],
  ['postUs', 'sum of post times', 'µs'],
] as const satisfies readonly (readonly [keyof MovedSums, string, string])[];

/** The engine adds seconds as doubles, so each addition may lose a little. */
const toleranceOf = (key: keyof MovedSums, { transfers = 0, [key]: sum = 0 }: PageMoved): number =>
  key === 'transferUs' || key === 'postUs' ? Math.floor(transfers * sum * Number.EPSILON) : 0;

export function comparedSums({ engine, before, page, after }: ComparedSums): ComparedSum[] {
  return MEASURES.flatMap(([key, subject, unit]): ComparedSum[] => {
    const text = (value: number): string => withUnit(wholeText(value), unit);
    const [sum, low, high, tolerance] = [page[key], before[key], after[key], toleranceOf(key, page)];
    if (sum === undefined) return [];
    if (sum >= low - tolerance && sum <= high + tolerance) {
      const moving = `${text(sum)}, of the rings ${text(low)} before and ${text(high)} after: equal within what moved meanwhile`;
      return [{ subject, what: low === high ? `${text(sum)} in both` : moving, differs: 0 }];
    }
    const isLess = sum > high;
    const nearest = isLess ? high : low;
    const off = `the rings have ${text(Math.abs(sum - nearest))} ${isLess ? 'less' : 'more'}`;
    const what = `${engine} has ${text(sum)}, the rings ${text(nearest)}: ${off}`;
    return [{ subject, what, differs: isLess ? -1 : 1 }];
  });
}

export interface DifferenceCircumstances {
  readonly page: EnginePageSums;
  readonly agents: readonly RingAgent[];
  /** Number of agents without a known engine. */
  readonly unknown: number;
  /** Start of the serve that counts; undefined where state files are read. */
  readonly serveStartedMs?: number | undefined;
}

/** A ring that serve found at its start may have been full before. */
const AT_START_MS = 5000;

/** Returns known reasons for a difference, the most certain first. */
export function differenceReasons(
  differs: -1 | 1,
  { page, agents, unknown, serveStartedMs = NaN }: DifferenceCircumstances,
): string[] {
  const total = (key: 'lost' | 'foundFull'): number => agents.reduce((sum, one) => sum + one[key], 0);
  const labels = (those: readonly RingAgent[]): string => listed(those.map(({ label }) => label));
  const instances = new Set(agents.flatMap(({ engine }) => engine?.instancePid ?? []));
  const wrong = agents.filter(({ suspect }) => suspect);
  const older = agents.filter(({ startTimeMs = NaN }) => startTimeMs < (page.startedMs ?? NaN) - 1000);
  const late = agents.filter(({ startTimeMs = NaN }) => Math.abs(startTimeMs - serveStartedMs) < AT_START_MS);
  const isLess = differs < 0;
  const reasons = [
    instances.size > 1 && `${plural(instances.size, 'instance')} have this port or model, and the page is that of one`,
    wrong.length > 0 && `the numbers of ${labels(wrong)} may be wrong`,
    isLess && total('lost') > 0 && `at least ${plural(total('lost'), 'event')} were lost`,
    isLess && total('foundFull') > 0 && `a full ring was found ${plural(total('foundFull'), 'time')}`,
    isLess &&
      late.length > 0 &&
      `serve began to count ${labels(late)} at its own start, ${dateAndTime(serveStartedMs)}: a ring that was full before had refused events`,
    isLess && unknown > 0 && `${plural(unknown, 'agent')} without a known engine may belong to it`,
    !isLess && older.length > 0 && `the sums of ${labels(older)} began before the engine`,
    !isLess && `${page.engine} publishes a transfer with its next step; other code of its processes may use NIXL`,
  ].filter((one) => one !== false);
  return reasons.length === 0 ? ['no reason is known'] : reasons;
}

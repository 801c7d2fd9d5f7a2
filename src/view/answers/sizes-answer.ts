/** The answer of /api/v1/sizes: serve makes it, the live page, top and list read it. docs/json.md describes it for others. */
import type { AgentSizes } from '../sizes/direction-sizes.js';
import type { Ways } from '../../way/way.js';
import { type AgentsAnswer, isAnswerWith } from './answer.js';

/** Path below the address of the page. */
export const SIZES_PATH = 'api/v1/sizes';

/** Time by size of an agent, and by which way its bytes go, once that is known. */
interface WayAndSizes extends AgentSizes {
  readonly way?: Ways;
}

/** With `agent=ID` there is one agent, and its classes have their distributions. */
export interface SizesAnswer extends Pick<AgentsAnswer, 'api' | 'version' | 'hostname' | 'startedMs' | 'takenMs'> {
  /** Span of the window: a minute or a little more, less while serve is younger. */
  readonly recentMs: number;
  readonly agents: readonly WayAndSizes[];
  /** Number of agents that are not listed; `agents=all` lists all. */
  readonly unlisted: number;
}

export function isSizesAnswer(json: unknown): json is SizesAnswer {
  return isAnswerWith(json, 'recentMs');
}

/** Makes the answer of /api/v1/sizes. */
import type { TimeSlices } from '../../ground/time-slices.js';
import { agentSizesIn } from '../../instrumentation/sizes/agent-sizes.js';
import type { SizeReading } from '../../instrumentation/sizes/size-watch.js';
import { API, type ServeFacts } from '../../view/answers/answer.js';
import type { SizesAnswer } from '../../view/answers/sizes-answer.js';
import type { Ways } from '../../way/way.js';
import type { Question } from './question.js';

/** An agent costs up to half a millisecond and 20 kB. */
const MOST_LISTED = 256;

export async function sizesAnswer(
  reading: SizeReading,
  { version, hostname, startedMs }: ServeFacts,
  { agent: id, agents: listed }: Question,
  slices: TimeSlices,
  wayOf: (id: number) => Ways | undefined = () => undefined,
): Promise<SizesAnswer> {
  const { takenMs, recentMs } = reading;
  const asked = reading.agents.filter((agent) => id === undefined || agent.id === id);
  const shown = listed === 'all' ? asked : asked.slice(0, MOST_LISTED);
  const sizes = await agentSizesIn(reading, slices, { agents: shown, details: id !== undefined });
  const agents = sizes.map((one) => {
    const { tx, rx } = wayOf(one.id) ?? {};
    return { ...one, ...((tx ?? rx) && { way: { ...(tx && { tx }), ...(rx && { rx }) } }) };
  });
  const unlisted = asked.length - shown.length;
  return { api: API, version, hostname, startedMs, takenMs, recentMs, agents, unlisted };
}

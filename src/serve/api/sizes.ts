/** Makes the answer of /api/v1/sizes. */
import type { TimeSlices } from '../../ground/time-slices.js';
import { agentSizesIn } from '../../instrumentation/sizes/agent-sizes.js';
import type { SizeReading } from '../../instrumentation/sizes/size-watch.js';
import { API, type ServeFacts } from '../../view/answers/answer.js';
import type { SizesAnswer } from '../../view/answers/sizes-answer.js';
import type { DirectionSizes } from '../../view/sizes/direction-sizes.js';
import { shareOfPorts, type Way } from '../../way/way.js';
import type { WayWatch } from '../way/way-watch.js';
import type { Question } from './question.js';

/** An agent costs up to half a millisecond and 20 kB. */
const MOST_LISTED = 256;

export async function sizesAnswer(
  reading: SizeReading,
  { version, hostname, startedMs }: ServeFacts,
  { agent: id, agents: listed }: Question,
  slices: TimeSlices,
  ways?: Pick<WayWatch, 'of' | 'ports'>,
): Promise<SizesAnswer> {
  const { takenMs, recentMs } = reading;
  const asked = reading.agents.filter((agent) => id === undefined || agent.id === id);
  const shown = listed === 'all' ? asked : asked.slice(0, MOST_LISTED);
  const sizes = await agentSizesIn(reading, slices, { agents: shown, details: id !== undefined });
  const agents = sizes.map((one) => {
    const { tx, rx } = ways?.of(one.id) ?? {};
    const withShare = (direction: DirectionSizes, way: Way | undefined): DirectionSizes => {
      // Transfers of a time in which the way changed, or of the time before, went by other ports.
      const isOfWay = direction.recent.length > 0 && way !== undefined && way.sinceMs <= takenMs - recentMs;
      const portShare = isOfWay ? shareOfPorts(rateOf(direction), way, ways?.ports ?? []) : undefined;
      return portShare === undefined ? direction : { ...direction, portShare };
    };
    return {
      ...one,
      tx: withShare(one.tx, tx),
      rx: withShare(one.rx, rx),
      ...((tx ?? rx) && { way: { ...(tx && { tx }), ...(rx && { rx }) } }),
    };
  });
  const unlisted = asked.length - shown.length;
  return { api: API, version, hostname, startedMs, takenMs, recentMs, agents, unlisted };
}

function rateOf({ model }: DirectionSizes): number | undefined {
  return model.kind === 'line' ? model.bytesPerSecond : undefined;
}

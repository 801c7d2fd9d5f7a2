/** Makes the answer of /api/v1/sizes. */
import { oneLine } from '../../ground/one-line.js';
import type { AgentSnapshot } from '../../ground/tally.js';
import type { TimeSlices } from '../../ground/time-slices.js';
import type { SizeReading } from '../../instrumentation/sizes/size-watch.js';
import { ambiguousNames } from '../../mapping/naming.js';
import { API, type ServeFacts } from '../../view/answers/answer.js';
import type { AgentSizes, SizesAnswer } from '../../view/answers/sizes-answer.js';
import { directionSizesOf } from '../../view/sizes/direction-sizes.js';
import { fastestQuarterOf } from '../../view/sizes/references.js';
import { type SizeFigures, sizeFiguresOf } from '../../view/sizes/size-figures.js';
import type { RecentSizes } from '../../view/sizes/size-window.js';
import type { Question } from './question.js';

/** An agent costs up to half a millisecond and 20 kB. */
const MOST_LISTED = 256;

export async function sizesAnswer(
  reading: SizeReading,
  { version, hostname, startedMs }: ServeFacts,
  { agent: id, agents: listed }: Question,
  slices: TimeSlices,
): Promise<SizesAnswer> {
  const { takenMs, recentMs } = reading;
  const names = ambiguousNames(reading.agents);
  const asked = reading.agents.filter((agent) => id === undefined || agent.id === id);
  const shown = listed === 'all' ? asked : asked.slice(0, MOST_LISTED);
  const agents: AgentSizes[] = [];
  const peers = await peersIn(reading, slices);
  for (const agent of shown) {
    const name = oneLine(names.has(agent.agent) ? agent.path : agent.agent);
    agents.push(agentSizes(agent, name, reading, peers, id !== undefined));
    const pause = slices.turn();
    if (pause !== undefined) await pause;
  }
  const unlisted = asked.length - shown.length;
  return { api: API, version, hostname, startedMs, takenMs, recentMs, agents, unlisted };
}

type Peers = Readonly<Record<keyof RecentSizes, ReturnType<typeof fastestQuarterOf<number>>>>;

async function peersIn({ agents, recentOf }: SizeReading, slices: TimeSlices): Promise<Peers> {
  const transmit = new Map<number, readonly SizeFigures[]>();
  const receive = new Map<number, readonly SizeFigures[]>();
  for (const agent of agents) {
    const recent = recentOf(agent);
    transmit.set(agent.id, sizeFiguresOf(recent.transmit));
    receive.set(agent.id, sizeFiguresOf(recent.receive));
    const pause = slices.turn();
    if (pause !== undefined) await pause;
  }
  return { transmit: fastestQuarterOf(transmit), receive: fastestQuarterOf(receive) };
}

function agentSizes(
  agent: AgentSnapshot,
  name: string,
  { recentOf }: SizeReading,
  peers: Peers,
  details: boolean,
): AgentSizes {
  const { transmit, receive } = agent.timeBySize!;
  const recent = recentOf(agent);
  return {
    id: agent.id,
    agent: agent.agent,
    directory: agent.directory,
    name,
    tx: directionSizesOf(transmit, recent.transmit, { details, peers: peers.transmit.get(agent.id)! }),
    rx: directionSizesOf(receive, recent.receive, { details, peers: peers.receive.get(agent.id)! }),
  };
}

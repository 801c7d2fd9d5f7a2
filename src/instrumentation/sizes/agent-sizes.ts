/** Time by size of agents, each beside its peers and its own past. */
import type { AgentSnapshot } from '../../ground/tally.js';
import type { TimeSlices } from '../../ground/time-slices.js';
import { namesOf } from './agent-names.js';
import { type AgentSizes, directionSizesOf } from '../../view/sizes/direction-sizes.js';
import { type ClassReference, fastestQuarterOf } from '../../view/sizes/references.js';
import { type SizeFigures, sizeFiguresOf } from '../../view/sizes/size-figures.js';
import type { RecentSizes } from '../../view/sizes/size-window.js';
import { UNBOUNDED } from '../../view/slowness/place-counts.js';
import type { JudgedDirection } from '../../view/slowness/slow-facts.js';
import type { Usual } from '../../view/slowness/usual-times.js';
import type { SizeReading } from './size-watch.js';

interface Wants {
  /** The agents to return. Default: all. */
  readonly agents?: readonly AgentSnapshot[];
  /** True adds the distributions of each class, and the model of the peers. Default: false. */
  readonly details?: boolean;
}

export async function agentSizesIn(
  reading: SizeReading,
  slices: TimeSlices,
  { agents = reading.agents, details = false }: Wants = {},
): Promise<AgentSizes[]> {
  const nameOf = namesOf(reading.agents);
  const { recents, peers } = await recentsIn(reading, slices);
  const found: AgentSizes[] = [];
  for (const agent of agents) {
    const { transmit, receive } = agent.timeBySize!;
    const recent = recents.get(agent.id)!;
    const usual = reading.usualOf(agent.id);
    const wants = (direction: JudgedDirection) => {
      return { details, peers: peers[direction].get(agent.id)!, usual: referencesIn(usual?.[direction]) };
    };
    found.push({
      id: agent.id,
      agent: agent.agent,
      directory: agent.directory,
      name: nameOf(agent),
      tx: directionSizesOf(transmit, recent.transmit, wants('transmit')),
      rx: directionSizesOf(receive, recent.receive, wants('receive')),
    });
    const pause = slices.turn();
    if (pause !== undefined) await pause;
  }
  return found;
}

function referencesIn(usual: Usual | undefined): ClassReference[] {
  const ofClass = ({ upToBytes, meanBytes, p50 }: Usual['classes'][number]): ClassReference => {
    return { upToBytes: upToBytes === UNBOUNDED ? Infinity : upToBytes, meanBytes, p50Us: p50, few: false };
  };
  return usual?.classes.map(ofClass) ?? [];
}

/** Returns the windows of all agents by id, and the peers of each. */
async function recentsIn({ agents, recentOf }: SizeReading, slices: TimeSlices) {
  const recents = new Map<number, RecentSizes>();
  const transmit = new Map<number, readonly SizeFigures[]>();
  const receive = new Map<number, readonly SizeFigures[]>();
  for (const agent of agents) {
    const recent = recentOf(agent);
    recents.set(agent.id, recent);
    transmit.set(agent.id, sizeFiguresOf(recent.transmit));
    receive.set(agent.id, sizeFiguresOf(recent.receive));
    const pause = slices.turn();
    if (pause !== undefined) await pause;
  }
  return { recents, peers: { transmit: fastestQuarterOf(transmit), receive: fastestQuarterOf(receive) } };
}

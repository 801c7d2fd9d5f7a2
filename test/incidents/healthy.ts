/** Hours of healthy traffic: no alarm is right, and few notes are. */
import type { Case } from './cases.js';
import { agents, ENGINE } from './world/programs.js';
import type { Fault, Program, World } from './world/shapes.js';

const HOUR_S = 3600;
/** Engines are renewed after so long, or once in a shorter run. */
const LIFE_S = 3 * HOUR_S;
const PAUSE_S = 40;
const AGENTS = 3;

/** Requests come and go over ten minutes. */
const RHYTHM: Program = {
  ...ENGINE,
  asking: { kind: 'poisson', perSecond: 4, load: (t) => 1.2 + Math.sin(t / 600) },
};
const BATCHES: Program = { ...ENGINE, asking: { kind: 'burst', count: () => 12, everyS: 3 } };

function renewed(seconds: number): World {
  const lifeS = Math.min(LIFE_S, seconds / 2);
  const lives = Math.ceil(seconds / lifeS);
  return Array.from({ length: lives }, (_, life): World => {
    const fromS = life * lifeS;
    const last = life === lives - 1 ? {} : { endsS: fromS + lifeS - PAUSE_S };
    return agents(`e${life}0..e${life}${AGENTS - 1}`, { ...RHYTHM, fromS, ...last, ...(life > 0 && { warmMs: 200 }) });
  }).flat();
}

/** A quarter of the time. */
const lateHours = (seconds: number) => ({ fromS: seconds / 2, untilS: seconds * 0.75 });

export function healthyCase(name: string, seconds: number): Case | undefined {
  const rows = `e0..e${AGENTS - 1}`;
  const all = (kind: Fault['kind'], factor: number, more: Partial<Fault>): Fault => ({
    kind,
    factor,
    fromS: 0,
    ...more,
  });
  const named = { name, kind: 'healthy hours', seconds, notes: [] };
  switch (name.split('-')[1]) {
    case 'renewed':
      return { ...named, world: renewed(seconds), faults: [], alarms: [] };
    case 'batches':
      return {
        ...named,
        world: agents(rows, BATCHES),
        faults: [all('stall', 1, { stallS: 2, everyS: 60 })],
        alarms: [],
      };
    case 'late': {
      const { fromS, untilS } = lateHours(seconds);
      const faults = [all('late', 4, { fromS, untilS }), all('loss', 0.05, { fromS, untilS })];
      // A ring that was full is an alarm of its own.
      const incomplete = { kind: 'incomplete', agents: agents(rows, RHYTHM).map((each) => each.name), fromS, byS: 60 };
      return { ...named, world: agents(rows, RHYTHM), faults, alarms: [incomplete] };
    }
  }
  return undefined;
}

export const HEALTHY_NAMES = ['renewed', 'batches', 'late'] as const;
export const healthyName = (name: string, hours: number): string => `healthy-${name}-${hours}`;
export function healthyNamed(name: string): Case | undefined {
  const [, hours] = /^healthy-\w+-([\d.]+)$/.exec(name) ?? [];
  return hours === undefined ? undefined : healthyCase(name, Number(hours) * HOUR_S);
}

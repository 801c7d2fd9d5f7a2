/** Labelled cases: what happens in a world, and what must be said about it. Times in seconds from the start. */
import type { ClockStep, Stall } from './harness/play.js';
import type { ScriptedAgent } from './world/script.js';
import type { Fault, World } from './world/shapes.js';
import { KiB, MiB, namesOf } from './world/programs.js';
import { ONSET_S, WORLDS } from './worlds.js';

/** A finding that must be said: about these agents, within a time after its cause began. */
export interface Label {
  readonly kind: string;
  readonly agents: readonly string[];
  readonly fromS: number;
  readonly byS: number;
}

export interface Case {
  readonly name: string;
  /** Of the table of results. */
  readonly kind: string;
  readonly world: World;
  /** Takes the place of the world. */
  readonly script?: readonly ScriptedAgent[];
  readonly seconds: number;
  readonly clock?: ClockStep;
  readonly stall?: Stall;
  /** Times that an operator announced. */
  readonly maintenance?: readonly { readonly fromS: number; readonly untilS: number }[];
  readonly faults: readonly Fault[];
  /** Alarms; of a healthy oddity none. */
  readonly alarms: readonly Label[];
  /** Notes that must be said at any time. */
  readonly notes: readonly Omit<Label, 'fromS' | 'byS'>[];
  /** Reason why the rule is known not to find it in time. */
  readonly except?: string;
}

type When = Partial<Pick<Fault, 'fromS' | 'untilS' | 'flapS'>>;

const onAgents = (agents: string) => (agents === 'all' ? undefined : namesOf(agents));
const at = (kind: Fault['kind'], agents: string, factor: number, more: Partial<Fault> = {}): Fault => ({
  kind,
  agents: onAgents(agents),
  factor,
  fromS: ONSET_S,
  ...more,
});
const link = (agents: string, factor: number, when: When = {}) => at('link', agents, factor, when);
const creep = (agents: string) => at('link', agents, 1, { creep: 0.02 });

/** States the label of slow transfers. */
const slow = (agents: string, byS: number, fromS = ONSET_S): Label => labelOf('slow-transfers', agents, byS, fromS);
const slowPosts = (agents: string, byS: number, fromS = ONSET_S): Label => labelOf('slow-posts', agents, byS, fromS);
const labelOf = (kind: string, agents: string, byS: number, fromS: number): Label => ({
  kind,
  agents: namesOf(agents),
  fromS,
  byS,
});
/** A ring that was full is an alarm of its own. */
const incomplete = (agents: string): Label => labelOf('incomplete', agents, 30, ONSET_S);

function incident(
  name: string,
  kind: string,
  world: keyof typeof WORLDS,
  seconds: number,
  faults: Fault | readonly Fault[],
  alarms: Label | readonly Label[],
  except?: string,
): Case {
  return {
    ...{ name, kind, world: WORLDS[world], seconds },
    ...{ faults: [faults].flat(), alarms: [alarms].flat(), notes: [] },
    ...(except === undefined ? {} : { except }),
  };
}

function oddity(
  name: string,
  kind: string,
  world: keyof typeof WORLDS,
  seconds: number,
  faults: Fault | readonly Fault[] = [],
  more: { readonly late?: string; readonly alarms?: readonly Label[] } = {},
): Case {
  const notes = more.late === undefined ? [] : [{ kind: 'late-completion', agents: namesOf(more.late) }];
  const alarms = more.alarms ?? [];
  return { name, kind, world: WORLDS[world], seconds, faults: [faults].flat(), alarms, notes };
}

// prettier-ignore
export const INCIDENTS: readonly Case[] = [
  incident('link-bench-2', 'link', 'W1', 1080, link('b3', 2), slow('b3', 182)),
  incident('link-bench-5', 'link', 'W1', 1080, link('b3', 5), slow('b3', 60)),
  incident('link-bench-10', 'link', 'W1', 1080, link('b3', 10), slow('b3', 32)),
  incident('link-bench-40', 'link', 'W1', 1080, link('b3', 40), slow('b3', 32)),
  incident('link-engine-10', 'link', 'W2', 1080, link('e2', 10), slow('e2', 182)),
  incident('link-engine-40', 'link', 'W2', 1080, link('e2', 40), slow('e2', 62)),
  incident('link-engine-2', 'link', 'W3', 1080, link('e2', 2), slow('e2', 182), 'steps hide most of it: times grow 1.7-fold'),
  incident('link-inline1size-10', 'link one size', 'W4', 1080, link('v0', 10), slow('v0', 32)),
  incident('link-inline1size-40', 'link one size', 'W4', 1080, link('v0', 40), slow('v0', 32)),
  incident('link-alone4-10', 'single agent', 'W6', 1080, link('b0', 10), slow('b0', 32)),
  incident('link-alone1size-10', 'one size', 'W7', 1080, link('b0', 10), slow('b0', 32)),
  incident('link-few-40', 'few', 'W9', 4200, link('f0', 40, { fromS: 2400 }), slow('f0', 480, 2400)),
  incident('size-1M-20', 'from a size up', 'W10', 1080, at('size', 'b2', 20, { fromBytes: MiB }), slow('b2', 32)),
  incident('size-1M-3', 'from a size up', 'W10', 1080, at('size', 'b2', 3, { fromBytes: MiB }), slow('b2', 182)),
  incident('class-only-16K', 'one class', 'W10', 1080, at('class', 'b1', 100, { upToBytes: 16 * KiB }), slow('b1', 32)),
  incident('post-bench-3', 'posts', 'W10', 1080, at('post', 'b4', 3), slowPosts('b4', 182)),
  incident('post-engine-3', 'posts', 'W11', 1080, at('post', 'e4', 3), slowPosts('e4', 182)),
  incident('post-engine-10', 'posts', 'W11', 1080, at('post', 'e4', 10), slowPosts('e4', 32)),
  incident('post-inline-8', 'posts', 'W4', 1080, at('post', 'v1', 8), slowPosts('v1', 182)),
  incident('post-inline-30', 'posts', 'W4', 1080, at('post', 'v1', 30), slowPosts('v1', 32)),
  incident('post-most-20', 'posts', 'W10', 1080, at('post', 'b4', 20, { share: 0.75 }), slowPosts('b4', 32)),
  incident('in-post-5', 'in the post', 'W59', 1080, at('size', 'm0', 5), slow('m0', 32)),
  incident('all-bench-2', 'all', 'W1', 1080, link('all', 2), slow('b0..b7', 182)),
  incident('all-bench-10', 'all', 'W1', 1080, link('all', 10), slow('b0..b7', 32)),
  incident('half-bench-2', 'half', 'W1', 1080, link('b0..b3', 2), slow('b0..b3', 182)),
  incident('half-bench-10', 'half', 'W1', 1080, link('b0..b3', 10), slow('b0..b3', 32)),
  incident('creep-bench', 'creep', 'W13', 5400, creep('b1'), slow('b1', 3900)),
  incident('creep-engine', 'creep', 'W14', 6600, creep('e1'), slow('e1', 4800)),
  incident('creep-all', 'creep', 'W13', 5400, creep('all'), slow('b0..b3', 3900)),
  incident('flap-10', 'flapping', 'W10', 1080, link('b5', 10, { flapS: 30 }), slow('b5', 65)),
  incident('heals-10', 'heals', 'W10', 1080, link('b5', 10, { untilS: 600 }), slow('b5', 32)),
  incident('brief-40', 'heals', 'W10', 1080, link('b5', 40, { untilS: 520 }), slow('b5', 42)),
  incident('heals-then-slow', 'heals', 'W10', 1080, [link('b5', 10, { fromS: 0, untilS: 300 }), link('b5', 10, { fromS: 780 })],
    slow('b5', 32, 780)),
  incident('two-on-one', 'two faults', 'W10', 1080, [link('b5', 10), at('post', 'b5', 100, { fromS: 680 })],
    [slow('b5', 32), slowPosts('b5', 60, 680)]),
  incident('slow-and-late', 'slow and late', 'W11', 1080, [link('e3', 20), at('late', 'e3', 5)], slow('e3', 182),
    'late steps hide the link: after nine minutes a note takes the place of the alarm'),
  incident('slow-and-late-bench', 'slow and late', 'W10', 1080, [link('b3', 10), at('latency', 'b3', 3000)], slow('b3', 62)),
  incident('new-slow-10', 'slow from birth', 'W15', 1080, link('n0', 10, { fromS: 0 }), slow('n0', 90, 600)),
  incident('new-slow-engine-10', 'slow from birth', 'W16', 1080, link('n0', 10, { fromS: 0 }), slow('n0', 120, 600)),
  incident('restart-slow-engine-10', 'slow from birth', 'W18', 1080, link('n0..n3', 10, { fromS: 630 }), slow('n0..n3', 120, 640)),
  incident('volume-collapse', 'volume collapses', 'W19', 1080, [link('b2', 20), at('volume', 'b2', 0.1)], slow('b2', 150)),
  incident('closed-collapse', 'volume collapses', 'W20', 1080, link('b2', 40), slow('b2', 32)),
  incident('slow-and-loss', 'loss', 'W10', 1080, [link('b2', 10), at('loss', 'b2', 0.5)], [slow('b2', 60), incomplete('b2')]),
  incident('tx-only-slow', 'roles', 'W21', 1080, link('p1', 10), slow('p1', 32)),
  incident('fleet64-one', 'scale', 'W23', 1080, link('b33', 10), slow('b33', 45)),
  incident('hetero-slowest-3', 'heterogeneous', 'W25', 1080, link('g1', 3), slow('g1', 182)),
  incident('busy-then-slow', 'busy', 'W26', 1080, link('b0', 10), slow('b0', 62)),
  incident('more-then-slow', 'busy', 'W62', 1080, link('b1', 20, { fromS: 560 }), slow('b1', 32, 560)),
  incident('idle-then-slow', 'idle', 'W27', 1500, link('b0', 10, { fromS: 850 }), slow('b0', 90, 900)),
];

// prettier-ignore
export const ODDITIES: readonly Case[] = [
  oddity('o-bench8', 'plain', 'W1', 1080),
  oddity('o-engine8', 'plain', 'W2', 1080),
  oddity('o-few4', 'few', 'W8', 3600),
  oddity('o-hetero-one', 'heterogeneous', 'W28', 1080),
  oddity('o-hetero-restart', 'heterogeneous', 'W29', 1080),
  oddity('o-late-engine10-all', 'late', 'W11', 1080, at('late', 'all', 10), { late: 'e0..e5' }),
  oddity('o-late-bench-20ms', 'late', 'W10', 1080, at('latency', 'b1', 20_000), { late: 'b1' }),
  oddity('o-late-new-size', 'late', 'W63', 1080, at('latency', 'b1', 20_000), { late: 'b1' }),
  oddity('o-late-inline5', 'late one size', 'W4', 1080, at('late', 'v0', 5), { late: 'v0' }),
  oddity('o-late-inline12', 'late one size', 'W4', 1080, at('late', 'all', 12), { late: 'v0..v1' }),
  oddity('o-late-engine1size', 'late one size', 'W39', 1080, at('late', 'all', 10), { late: 'e0' }),
  oddity('o-inline-burst8', 'burst', 'W31', 1080),
  oddity('o-engine-burst16', 'burst', 'W33', 1080),
  oddity('o-size-shift', 'size shift', 'W34', 1080),
  oddity('o-shift-in-class', 'size shift', 'W65', 1080),
  oddity('o-prompt-shift', 'size shift', 'W35', 1080),
  oddity('o-tiny', 'one size', 'W37', 1080),
  oddity('o-single', 'single agent', 'W6', 1080),
  oddity('o-single-engine1', 'single agent', 'W38', 1080),
  oddity('o-new-warm', 'warm-up', 'W40', 1080),
  oddity('o-idle', 'idle', 'W41', 1500),
  oddity('o-reload-bench', 'reload', 'W44', 1080),
  oddity('o-churn', 'reload', 'W45', 1320),
  oddity('o-gc-starts', 'stalls', 'W11', 1080, at('stall', 'all', 1, { stallS: 2, everyS: 60 })),
  oddity('o-batches', 'stalls', 'W64', 1080, at('stall', 'all', 1, { stallS: 2, everyS: 60, fromS: 0 })),
  oddity('o-conc-1-32-1size', 'concurrency', 'W48', 1080),
  oddity('o-conc-burst8', 'concurrency', 'W49', 1080),
  oddity('o-conc-burst32-1size', 'concurrency', 'W50', 1080),
  oddity('o-volume-drop', 'volume', 'W10', 1080, at('volume', 'all', 0.08)),
  oddity('o-loss', 'loss', 'W10', 1080, at('loss', 'b1', 0.7), { alarms: [incomplete('b1')] }),
  oddity('o-tails', 'tails', 'W53', 1080),
  oddity('o-noisy', 'tails', 'W54', 1080),
  oddity('o-tp8', 'lock step', 'W22', 1080),
  oddity('o-fleet64', 'scale', 'W23', 700),
  oddity('o-rhythm', 'rhythm', 'W55', 7200),
  oddity('o-post-shift', 'posts', 'W57', 1080),
  oddity('o-post-few-us', 'posts', 'W58', 1080, at('post', 'b1', 4)),
  oddity('o-neighbours-busy', 'concurrency', 'W60', 1080),
  oddity('o-new-engine', 'reload', 'W61', 1080),
  oddity('o-some-rtx', 'tails', 'W13', 1080, at('some', 'b1', 20, { share: 0.1 })),
];

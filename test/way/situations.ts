/** Made situations of agents and ports, in windows of five seconds, with the way that each agent takes. */
import type { AgentInWindow, CounterInWindow, WayWindow } from '../../src/way/way-window.js';

const MB = 2 ** 20;
const WINDOW_MS = 5000;

/** Bytes of a window, by its number. */
type Pace = (window: number, random: () => number) => number;

export interface Route {
  /** Way as words; `unknown` if nothing can tell it. */
  readonly expected: string;
  /** Ports with the bytes that each carries for each byte of the agent, from this window on. */
  readonly by: Readonly<Record<string, number>>;
  readonly from?: number;
}

export interface Mover {
  readonly pace: Pace;
  readonly direction?: 'sent' | 'received';
  readonly routes: readonly Route[];
  readonly network?: string | undefined;
  readonly devices?: readonly string[] | undefined;
}

export interface Situation {
  readonly name: string;
  readonly agents: readonly Mover[];
  /** All ports; `kind scope port`. */
  readonly ports: readonly string[];
  /** Other traffic of a port. */
  readonly others?: Readonly<Record<string, Pace>>;
  readonly unseenDevices?: WayWindow['unseenDevices'];
  readonly windows?: number;
}

const jittery =
  (mb: number, part = 0.3): Pace =>
  (_, random) =>
    mb * MB * (1 + part * (2 * random() - 1));
const even =
  (mb: number): Pace =>
  (_, random) =>
    mb * MB * (1 + 0.004 * (random() - 0.5));
const bursts =
  (mb: number, every: number): Pace =>
  (window, random) =>
    window % every === 0 ? mb * MB * (0.8 + 0.4 * random()) : 0;
const phases =
  (mb: number, begin: number, end: number): Pace =>
  (window, random) =>
    window >= begin && window < end ? mb * MB * (0.9 + 0.2 * random()) : 0;
const drift =
  (mb: number): Pace =>
  (window) =>
    mb * MB * (1 + 0.05 * window);

const ETH0 = 'tcp net:1 eth0';
const LO = 'tcp net:1 lo';
const BOND = 'tcp net:1 bond0';
const ETH1 = 'tcp net:1 eth1';
const MLX0 = 'rdma mlx5_0 mlx5_0/1';
const MLX1 = 'rdma mlx5_1 mlx5_1/1';
const HOST = [ETH0, LO, MLX0, MLX1];

const tcp = (ratio = 1.01): Route => ({ expected: 'tcp by eth0', by: { [ETH0]: ratio } });
const loop = (): Route => ({ expected: 'tcp by lo', by: { [LO]: 1.008 } });
const rdma = (port = MLX0, ratio = 1.02): Route => ({
  expected: `rdma by ${port.split(' ')[2]!}`,
  by: { [port]: ratio },
});
const memory = (): Route => ({ expected: 'neither', by: {} });
const untold = (by: Route['by']): Route => ({ expected: 'unknown', by });
const one = (pace: Pace, route: Route, more: Partial<Mover> = {}): Mover => ({ pace, routes: [route], ...more });

const paces: readonly (readonly [string, Pace])[] = [
  ['uneven', jittery(500)],
  ['even', even(500)],
  ['in bursts', bursts(900, 3)],
  ['growing', drift(300)],
];
const quiet: Readonly<Record<string, Pace>> = { [ETH0]: jittery(0.4), [LO]: jittery(0.2) };

/** Each pace by each way, alone. */
const alone: Situation[] = paces.flatMap(([name, pace]) =>
  [tcp(), loop(), rdma(), memory()].map((route) => ({
    ...{ name: `${route.expected}, ${name}`, ports: HOST, others: quiet },
    agents: [one(pace, route)],
  })),
);

const withOthers: Situation[] = [
  {
    name: 'tcp beside uneven traffic of its size',
    others: { [ETH0]: jittery(500) },
    ports: HOST,
    agents: [one(jittery(500, 0.6), tcp())],
  },
  {
    name: 'tcp beside five times its traffic',
    others: { [ETH0]: jittery(2500, 0.05) },
    ports: HOST,
    agents: [one(bursts(900, 2), tcp())],
  },
  {
    name: 'memory beside ten times its traffic',
    others: { [ETH0]: jittery(5000) },
    ports: HOST,
    agents: [one(bursts(500, 2), untold({}))],
  },
  {
    name: 'rdma beside storage traffic of the card',
    others: { [MLX0]: jittery(300) },
    ports: HOST,
    agents: [one(bursts(800, 3), rdma())],
  },
  {
    name: 'memory beside even traffic of its size',
    others: { [ETH0]: even(1500) },
    ports: HOST,
    agents: [one(even(500), untold({}))],
  },
  {
    name: 'tcp beside even traffic',
    others: { [ETH0]: even(1500) },
    ports: HOST,
    agents: [one(even(500), untold({ [ETH0]: 1.01 }))],
  },
  { name: 'small frames', others: quiet, ports: HOST, agents: [one(jittery(200), tcp(1.09))] },
  {
    name: 'acknowledgements of what others send',
    others: { [ETH0]: jittery(10) },
    ports: HOST,
    agents: [one(jittery(400), memory())],
  },
];

const several: Situation[] = [
  {
    name: 'tcp and memory, unlike paces',
    ports: HOST,
    others: quiet,
    agents: [one(jittery(400), tcp()), one(jittery(400), memory())],
  },
  {
    name: 'tcp and memory, even and unlike',
    ports: HOST,
    others: quiet,
    agents: [one(even(400), tcp()), one(even(150), memory())],
  },
  {
    name: 'tcp and memory at one pace',
    ports: HOST,
    others: quiet,
    agents: [one(even(400), untold({ [ETH0]: 1.01 })), one(even(400), untold({}))],
  },
  {
    name: 'four at one pace, all tcp',
    ports: HOST,
    others: quiet,
    agents: [1, 2, 3, 4].map(() => one(even(300), tcp())),
  },
  {
    name: 'eight ranks, all by one card',
    ports: HOST,
    others: quiet,
    agents: Array.from({ length: 8 }, () => one(even(300), rdma())),
  },
  {
    name: 'two ranks, each with its own card open',
    ports: HOST,
    others: quiet,
    agents: [one(even(300), rdma(MLX0), { devices: ['mlx5_0'] }), one(even(300), rdma(MLX1), { devices: ['mlx5_1'] })],
  },
  {
    name: 'one after the other',
    ports: HOST,
    others: quiet,
    agents: [one(phases(400, 0, 12), tcp()), one(phases(400, 12, 24), loop())],
  },
  {
    name: 'ten uneven ones, half by tcp',
    ports: HOST,
    others: quiet,
    agents: [
      ...Array.from({ length: 5 }, () => one(jittery(200, 0.9), tcp())),
      ...Array.from({ length: 5 }, () => one(jittery(200, 0.9), memory())),
    ],
  },
  {
    name: 'two network namespaces',
    ports: [ETH0, LO, 'tcp net:2 eth0', 'tcp net:2 lo'],
    agents: [
      one(jittery(300), tcp()),
      one(jittery(300), { expected: 'tcp by eth0', by: { 'tcp net:2 eth0': 1.01 } }, { network: 'net:2' }),
    ],
  },
  {
    name: 'one writes, one reads',
    ports: HOST,
    others: quiet,
    agents: [one(jittery(300), tcp()), one(jittery(300), rdma(), { direction: 'received' })],
  },
];

const special: Situation[] = [
  {
    name: 'two rails',
    ports: HOST,
    others: quiet,
    agents: [one(jittery(800), { expected: 'rdma by mlx5_0/1 and mlx5_1/1', by: { [MLX0]: 0.51, [MLX1]: 0.51 } })],
  },
  {
    name: 'a bond of two interfaces',
    ports: [ETH0, ETH1, BOND, LO],
    agents: [one(jittery(800), { expected: 'tcp by bond0', by: { [BOND]: 1.01, [ETH0]: 0.5, [ETH1]: 0.51 } })],
  },
  {
    name: 'half by tcp, half by memory',
    ports: HOST,
    others: quiet,
    agents: [one(jittery(400), { expected: 'mixed by eth0', by: { [ETH0]: 0.5 } })],
  },
  {
    name: 'half by tcp, half by rdma',
    ports: HOST,
    others: quiet,
    agents: [one(jittery(400), { expected: 'mixed by eth0 and mlx5_0/1', by: { [ETH0]: 0.5, [MLX0]: 0.51 } })],
  },
  {
    name: 'files of a disk',
    ports: [ETH0, LO, 'storage 0 disk', 'storage 0 files'],
    agents: [one(bursts(700, 2), { expected: 'storage by disk', by: { 'storage 0 disk': 1 } })],
  },
  {
    name: 'files of a disk in the network',
    ports: [ETH0, LO, 'storage 0 files'],
    agents: [one(jittery(700), { expected: 'mixed by eth0 and files', by: { 'storage 0 files': 1, [ETH0]: 1.03 } })],
  },
  {
    name: 'a card without counters',
    ports: [ETH0, LO],
    unseenDevices: [{ device: 'mlx5_0' }],
    others: quiet,
    agents: [one(jittery(400), untold({}))],
  },
  {
    name: 'tcp beside a card without counters',
    ports: [ETH0, LO],
    unseenDevices: [{ device: 'mlx5_0' }],
    others: quiet,
    agents: [one(jittery(400), tcp())],
  },
  {
    name: 'soft RoCE, whose packets an interface sends',
    ports: [ETH0, LO],
    unseenDevices: [{ device: 'rxe0', interface: 'eth0' }],
    others: quiet,
    agents: [one(jittery(400), untold({ [ETH0]: 1.06 }), { devices: ['rxe0'] })],
  },
  {
    name: 'tcp beside soft RoCE of others',
    ports: [ETH0, LO],
    unseenDevices: [{ device: 'rxe0', interface: 'eth0' }],
    others: quiet,
    agents: [one(jittery(400), tcp(), { devices: [] })],
  },
  {
    name: 'a process that is not visible',
    ports: HOST,
    agents: [one(jittery(400), untold({ [ETH0]: 1.01 }), { network: undefined })],
  },
  {
    name: 'open files that are not visible',
    ports: [ETH0, LO],
    agents: [one(jittery(400), untold({}), { devices: undefined })],
  },
  { name: 'too short a time', windows: 4, ports: HOST, agents: [one(jittery(400), untold({ [ETH0]: 1.01 }))] },
  {
    name: 'few bytes among many',
    others: { [ETH0]: jittery(900) },
    ports: HOST,
    agents: [one(jittery(0.2), untold({ [ETH0]: 1.01 }))],
  },
  {
    name: 'from rdma to tcp',
    ports: HOST,
    others: quiet,
    windows: 30,
    agents: [
      {
        pace: jittery(400),
        routes: [
          { ...rdma(), from: 0 },
          { ...tcp(), from: 18 },
        ],
      },
    ],
  },
  {
    name: 'from memory to tcp, in bursts',
    ports: HOST,
    others: quiet,
    windows: 40,
    agents: [
      {
        pace: bursts(400, 2),
        routes: [
          { ...memory(), from: 0 },
          { ...tcp(), from: 20 },
        ],
      },
    ],
  },
];

/** By what the table of docs/way.md calls them. */
export const SITUATIONS: Readonly<Record<string, readonly Situation[]>> = {
  'one agent, four paces by each way': alone,
  'other traffic': withOthers,
  'several agents': several,
  'rails, bonds, files, changes, hidden counters': special,
};

/** Deterministic numbers from 0 to 1. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns the windows of a situation. Bytes reach ports and rings up to 40 ms apart. */
export function windowsOf(
  { agents, ports, others = {}, unseenDevices = [], windows = 24 }: Situation,
  seed: number,
): WayWindow[] {
  const random = randomOf(seed);
  const late = agents.map(() => ({ bytes: 0 }));
  return Array.from({ length: windows }, (_, window) => {
    const moved = agents.map(({ pace }) => Math.round(pace(window, random)));
    const counted = new Map(ports.map((port) => [port, { sent: 0, received: 0 }]));
    agents.forEach(({ routes, direction = 'sent' }, i) => {
      const route = routes.findLast(({ from = 0 }) => from <= window)!;
      const cut = moved[i]! * 0.008 * random();
      const bytes = moved[i]! - cut + late[i]!.bytes;
      late[i]!.bytes = cut;
      for (const [port, ratio] of Object.entries(route.by)) {
        const counter = counted.get(port)!;
        counter[direction] += ratio * bytes;
        const other = direction === 'sent' ? 'received' : 'sent';
        counter[other] += (port.endsWith(' lo') ? ratio : 0.01) * bytes;
      }
    });
    for (const [port, pace] of Object.entries(others)) {
      const counter = counted.get(port)!;
      counter.sent += pace(window, random);
      counter.received += pace(window, random);
    }
    return {
      takenMs: window * WINDOW_MS,
      agents: agents.map((agent, id): AgentInWindow => {
        const network = 'network' in agent ? agent.network : 'net:1';
        const devices = 'devices' in agent ? agent.devices : ['mlx5_0', 'mlx5_1'];
        const { direction = 'sent' } = agent;
        return { id, network, devices, sent: 0, received: 0, [direction]: moved[id]! };
      }),
      counters: [...counted].map(([port, bytes]): CounterInWindow => {
        const [kind, scope, name] = port.split(' ') as [CounterInWindow['kind'], string, string];
        return { kind, scope, port: name, sent: Math.round(bytes.sent), received: Math.round(bytes.received) };
      }),
      unseenDevices,
    };
  });
}

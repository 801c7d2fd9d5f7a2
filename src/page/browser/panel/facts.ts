/** Facts of one agent as pairs of texts. Pure. */
import type { AgentDetail } from '../../../view/answers/answer.js';
import { spanText, timeOfDay } from '../../../ground/figures/clock.js';
import { bytesText, listed, numberText, percent, plural } from '../../../ground/figures/figure.js';
import { explainedWay, type HostPort, rateOfPort, type Way } from '../../../way/way.js';

/** `exact`: the number that the text rounds. */
export type Fact = readonly [label: string, text: string, exact?: number];

export function workFacts(agent: AgentDetail): Fact[] {
  return [
    ['tx', bytesText(agent.txBytes), agent.txBytes],
    ['rx', bytesText(agent.rxBytes), agent.rxBytes],
    ['tx requests', numberText(agent.txRequests), agent.txRequests],
    ['rx requests', numberText(agent.rxRequests), agent.rxRequests],
  ];
}

export function ringFacts(agent: AgentDetail): Fact[] {
  const { ring } = agent;
  return [
    ['Highest of late', `${percent(agent.fill)} of ${plural(agent.capacity, 'slot')}`],
    ...(ring === undefined
      ? []
      : [
          ['Read, written', `${numberText(ring.readPos)} · ${numberText(ring.writePos)}`] as const,
          ['Not read yet', plural(ring.pending, 'event')] as const,
        ]),
    ['Events read', numberText(agent.events)],
    ['Found full', agent.foundFull === 0 ? 'never' : plural(agent.foundFull, 'time'), agent.foundFull],
    ['Lost, at least', plural(agent.lost, 'event'), agent.lost],
    ['Dropped by the agent', plural(agent.dropped, 'event'), agent.dropped],
    ...(agent.wireVersion === undefined ? [] : [['Wire version', String(agent.wireVersion)] as const]),
  ];
}

export function memoryFacts({ memoryBytes, memoryApproximate, registeredBytes }: AgentDetail): Fact[] {
  const exactness = memoryApproximate ? 'approximate' : 'exact';
  return [
    ['Registered now', `${bytesText(memoryBytes)}, ${exactness}`, memoryBytes],
    ['Ever registered', bytesText(registeredBytes), registeredBytes],
  ];
}

export function placeFacts(agent: AgentDetail, nowMs: number): Fact[] {
  const { pid, uid, rank, gpus, gpuModels = [], endedMs, engine = {} } = agent;
  const { label, model, title, unknown } = engine;
  const process = [...(pid === undefined ? [] : [`pid ${pid}`]), ...(uid === undefined ? [] : [`uid ${uid}`])];
  const gpu = [...(gpus === undefined ? [] : [gpus]), ...new Set(gpuModels)];
  return [
    ...(label === undefined ? [] : [['Agent', agent.name] as const]),
    ...(model === undefined ? [] : [['Model', model] as const]),
    ...(unknown === undefined ? [] : [['Engine', `unknown: ${unknown}`] as const]),
    ...(process.length === 0 ? [] : [['Process', process.join(', ')] as const]),
    ...(title === undefined ? [] : [['Command', title] as const]),
    ...(endedMs === undefined
      ? []
      : [['Ended', `at ${timeOfDay(endedMs)}, ${spanText(nowMs - endedMs)} ago`] as const]),
    ...(rank === undefined ? [] : [['Rank', rank] as const]),
    ...(gpu.length === 0 ? [] : [['GPUs', gpu.join(' · ')] as const]),
    ...Object.entries(agent.attributes).map(([key, value]) => [key, textOf(value)] as const),
    ['Ring file', agent.path],
  ];
}

/** Each with its source. */
export function wayFacts({ way = {} }: AgentDetail, ports: readonly HostPort[]): Fact[] {
  const { tx, rx, backends, devices, ucxTls, ucxNetDevices } = way;
  const direction = (name: string, one: Way | undefined): Fact[] =>
    one === undefined ? [] : [[name, explainedWay(one)]];
  const before = [tx?.before && `tx ${tx.before}`, rx?.before && `rx ${rx.before}`].filter(
    (text) => text !== undefined,
  );
  const used = new Set([...(tx?.ports ?? []), ...(rx?.ports ?? [])]);
  return [
    ...direction('tx', tx),
    ...direction('rx', rx),
    ...(before.length === 0 ? [] : [['Before', before.join(', ')] as const]),
    ...(backends === undefined ? [] : [['Backends', `${backends.join(', ') || 'none'} (its maps)`] as const]),
    ...(ucxTls === undefined ? [] : [['UCX_TLS', ucxTls] as const]),
    ...(ucxNetDevices === undefined ? [] : [['UCX_NET_DEVICES', ucxNetDevices] as const]),
    ...(devices === undefined || devices.length === 0
      ? []
      : [['Devices', `${listed(devices, 8)} (open files)`] as const]),
    ...ports.filter(({ name }) => used.has(name)).map((port) => [port.name, `${portText(port)} (/sys)`] as const),
  ];
}

function portText(port: HostPort): string {
  const { gigabits, linkLayer, isActive, numaNode, sentPerSecond, receivedPerSecond } = port;
  const rate = rateOfPort(port);
  const busy = rate && Math.max(sentPerSecond ?? 0, receivedPerSecond ?? 0) / rate;
  return [
    gigabits === undefined ? undefined : `${numberText(gigabits)} Gb/s`,
    busy === undefined ? undefined : `${percent(busy)} busy`,
    linkLayer,
    isActive === false ? 'not active' : undefined,
    numaNode === undefined ? undefined : `NUMA node ${numaNode}`,
  ]
    .filter((text) => text !== undefined)
    .join(', ');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

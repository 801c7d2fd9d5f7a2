/** Facts of one agent as pairs of texts. Pure. */
import type { AgentDetail } from '../../../api/answer.js';
import { bytesFigure, counted, countFigure, figureText } from '../../../figures/figure.js';
import { percent } from '../../../figures/formats.js';
import { clock, length } from '../clock.js';

/** `exact`: the number that the text rounds. */
export type Fact = readonly [label: string, text: string, exact?: number];

const number = (value: number): string => figureText(countFigure(value));

export function workFacts(agent: AgentDetail): Fact[] {
  return [
    ['tx', figureText(bytesFigure(agent.txBytes)), agent.txBytes],
    ['rx', figureText(bytesFigure(agent.rxBytes)), agent.rxBytes],
    ['tx requests', number(agent.txRequests), agent.txRequests],
    ['rx requests', number(agent.rxRequests), agent.rxRequests],
  ];
}

export function ringFacts(agent: AgentDetail): Fact[] {
  const { ring } = agent;
  return [
    ['Highest of late', `${percent(agent.fill)} of ${counted(agent.capacity, 'slot')}`],
    ...(ring === undefined
      ? []
      : [
          ['Read, written', `${number(ring.readPos)} · ${number(ring.writePos)}`] as const,
          ['Not read yet', counted(ring.pending, 'event')] as const,
        ]),
    ['Events read', number(agent.events)],
    ['Found full', agent.foundFull === 0 ? 'never' : counted(agent.foundFull, 'time'), agent.foundFull],
    ['Dropped by the agent', counted(agent.dropped, 'event'), agent.dropped],
    ...(agent.wireVersion === undefined ? [] : [['Wire version', String(agent.wireVersion)] as const]),
  ];
}

export function memoryFacts({ memoryBytes, memoryApproximate, registeredBytes }: AgentDetail): Fact[] {
  const exactness = memoryApproximate ? 'approximate' : 'exact';
  return [
    ['Registered now', `${figureText(bytesFigure(memoryBytes))}, ${exactness}`, memoryBytes],
    ['Ever registered', figureText(bytesFigure(registeredBytes)), registeredBytes],
  ];
}

export function placeFacts(agent: AgentDetail, nowMs: number): Fact[] {
  const { pid, uid, rank, gpus, gpuModels = [], endedMs } = agent;
  const process = [...(pid === undefined ? [] : [`pid ${pid}`]), ...(uid === undefined ? [] : [`uid ${uid}`])];
  const gpu = [...(gpus === undefined ? [] : [gpus]), ...new Set(gpuModels)];
  return [
    ...(process.length === 0 ? [] : [['Process', process.join(', ')] as const]),
    ...(endedMs === undefined ? [] : [['Ended', `at ${clock(endedMs)}, ${length(nowMs - endedMs)} ago`] as const]),
    ...(rank === undefined ? [] : [['Rank', rank] as const]),
    ...(gpu.length === 0 ? [] : [['GPUs', gpu.join(' · ')] as const]),
    ...Object.entries(agent.attributes).map(([key, value]) => [key, textOf(value)] as const),
    ['Ring file', agent.path],
  ];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

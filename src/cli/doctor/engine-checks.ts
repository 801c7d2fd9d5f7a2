/** Compares the page of metrics of an engine with the rings of its agents: what serve has of them, or its state files. */
import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../../ground/errors.js';
import { listed, plural, wholeText } from '../../ground/figures/figure.js';
import {
  agentsOfPage,
  comparedSums,
  differenceReasons,
  type EngineLook,
  isAnotherLife,
  movedSum,
  type RingAgent,
} from '../../engines/engine-comparison.js';
import { enginePageSums, type EnginePageSums, type PageMoved } from '../../engines/engine-page.js';
import { EngineTable } from '../../engines/identify.js';
import { AgentIdentities } from '../../instrumentation/agents/agent-identities.js';
import { Failure } from '../../process/failure.js';
import { warnOnce } from '../../process/output.js';
import { findWriters } from '../../shm-bridge/ring.js';
import { AGENTS_PATH, isAgentsAnswer } from '../../view/answers/answer.js';
import type { DoctorFinding } from '../../view/answers/doctor-finding.js';
import { type ClientAccess, HttpClient, isSuccess, refusalText } from '../../view/client/client.js';
import { serveAnswer } from '../../view/client/serve-answer.js';
import { addressOfPath, type ServerAddress, withoutSecrets } from '../../view/client/server-address.js';
import { type AgentModel, labelOfAgent, requestsOf } from '../../view/model/agent-model.js';
import { fieldsOf } from '../../view/model/from-tally.js';
import { keptRings } from '../kept-rings.js';
import type { Examination } from './checks.js';
import { finding, firstThree, ok } from './finding.js';

/** The rings, at one time. */
interface RingSide {
  readonly agents: readonly RingAgent[];
  readonly serveStartedMs?: number;
  /** Longest time until a transfer is counted: a flush of an agent and a drain. */
  readonly lagMs?: number;
  /** Number of rings that no serve keeps sums of. */
  readonly withoutSums?: number;
}

/** A serve, or directories. */
export interface RingPlace {
  readonly name: string;
  readonly look: () => Promise<RingSide>;
}

/** Time after which each side has what the other one had: an answer that serve keeps, a step of the engine. */
const SETTLE_MS = 1000;
const MOST_SETTLE_MS = 30_000;

interface EngineToAsk {
  readonly given: ServerAddress;
  readonly url: URL;
  /** The engine, in findings. */
  readonly subject: string;
  readonly values: Readonly<Record<string, string>>;
  readonly rings: RingPlace;
  readonly port: string;
}

/** A page that can be compared. */
type CountedPage = EnginePageSums & { readonly moved: PageMoved };

interface BothSides extends EngineLook {
  readonly page: CountedPage;
  readonly rings: RingSide;
}

export async function examineEngine(given: ServerAddress, rings: RingPlace): Promise<Examination> {
  const url = addressOfPath(given.url, 'metrics');
  const isSocket = given.socketPath !== undefined;
  const subject = isSocket ? given.name : withoutSecrets(url).href;
  const values = { URL: subject, ENGINE: isSocket ? given.name : withoutSecrets(given.url).href };
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const findings = await engineFindings({ given, url, subject, values, rings, port });
  return { findings, processes: [], directories: [], servers: [] };
}

async function engineFindings(ask: EngineToAsk): Promise<DoctorFinding[]> {
  const { subject, values, rings, port } = ask;
  const side = await rings.look();
  const page = await countedPage(ask);
  if ('finding' in page) return [page];
  const agents = agentsOfPage(side.agents, page, port);
  if (agents.length === 0) {
    const what = `no living agent of :${port} at ${rings.name}; ${othersText(side)}`;
    return [finding('engine-unseen', { subject, what, values })];
  }
  const compared = await comparedFindings(ask, { page, rings: side, agents });
  const labels = listed(
    agents.map(({ label }) => label),
    3,
  );
  const { engine } = page;
  return [
    ok('engine', subject, `the page of ${engine} beside ${plural(agents.length, 'agent')} at ${rings.name}: ${labels}`),
    ...compared,
    ...page.beyondRings.map(([what, count]) =>
      finding('engine-failures', { subject, what: `${engine} counts ${what}: ${wholeText(count)}`, values }),
    ),
  ];
}

function othersText({ agents, withoutSums = 0 }: RingSide): string {
  const known = [...new Set(agents.flatMap(({ engine, label }) => (engine?.engine ? [label] : [])))];
  const there = known.length === 0 ? 'none there has a known engine' : `known there: ${firstThree(known)}`;
  return withoutSums === 0
    ? there
    : `${there}; ${plural(withoutSums, 'ring')} without kept sums: serve keeps none, or they are of another user`;
}

/** Reads both sides again where they differ: transfers may continue, and each side counts them at its own time. */
async function comparedFindings(ask: EngineToAsk, first: BothSides): Promise<DoctorFinding[]> {
  const atOnce = judged(ask, first, first);
  if (atOnce.every(({ status }) => status === 'ok')) return atOnce;
  const { url, subject, values, rings, port } = ask;
  const settleMs = Math.min(MOST_SETTLE_MS, SETTLE_MS + (first.rings.lagMs ?? 0));
  await pause(settleMs);
  const page = await countedPage(ask);
  if ('finding' in page) return [page];
  await pause(settleMs);
  const after = await rings.look();
  const second = { page, rings: after, agents: agentsOfPage(after.agents, page, port) };
  if (!isAnotherLife(first, second)) return judged(ask, first, second);
  return [
    finding('engine-restarted', { subject, what: `${url.host} or an agent of it has restarted meanwhile`, values }),
  ];
}

function judged({ values }: EngineToAsk, first: BothSides, now: BothSides): DoctorFinding[] {
  const { engine, moved } = now.page;
  const sums = { engine, before: movedSum(first.agents), page: moved, after: movedSum(now.agents) };
  const { agents, serveStartedMs } = first.rings;
  const unknown = agents.filter(({ engine: one, life }) => one?.engine === undefined && life !== 'dead').length;
  return comparedSums(sums).map(({ subject, what, differs }) => {
    if (differs === 0) return ok('engine-equal', subject, what);
    const reasons = differenceReasons(differs, { page: now.page, agents: now.agents, unknown, serveStartedMs });
    const name = differs < 0 ? 'engine-differs' : 'engine-behind';
    return finding(name, { subject, what: [what, ...reasons].join('; '), values });
  });
}

/** Returns a finding where the page cannot be compared. */
async function countedPage({ given, url, subject, values }: EngineToAsk): Promise<CountedPage | DoctorFinding> {
  const page = await pageAt(given, url).catch(reasonOf);
  if (typeof page === 'string') return finding('engine-no-page', { subject, what: page, values });
  const { moved } = page;
  if (moved !== undefined) return { ...page, moved };
  const what = `the page of ${page.engine} has ${page.page.instead}`;
  return finding('engine-uncounted', { subject, what, values });
}

/** @throws Error with the reason, if there is no page of an engine */
async function pageAt(given: ServerAddress, url: URL): Promise<EnginePageSums> {
  const client = new HttpClient(given);
  try {
    const answer = await client.get(url);
    if (!isSuccess(answer)) throw new Error(refusalText(answer));
    const page = enginePageSums(answer.text);
    if (page === undefined) throw new Error('the page has no series of an engine that is known');
    return page;
  } finally {
    client.close();
  }
}

export function ringsOfServe(given: ServerAddress, access: ClientAccess): RingPlace {
  const parameters = { agents: 'all', detail: 'none' };
  const question = { path: AGENTS_PATH, parameters, what: 'agents', isAnswer: isAgentsAnswer };
  const look = async (): Promise<RingSide> => {
    const answer = await serveAnswer(given, access, question);
    if (answer.agents.some(({ transferUs }) => transferUs === undefined)) {
      throw new Failure(`${given.name} has no sums of times: serve is older than this command`);
    }
    const ofEngines = answer.agents.filter(({ engine, life }) => engine !== undefined && life !== 'dead');
    const flushMs = Math.max(0, ...ofEngines.map(({ flushIntervalMs = 0 }) => flushIntervalMs));
    const lagMs = flushMs + answer.collector.drainIntervalMs;
    return { agents: answer.agents.map(ringAgent), serveStartedMs: answer.startedMs, lagMs };
  };
  return { name: given.name, look };
}

/** The sums that serve keeps beside the rings, before it moves their read positions. */
export function ringsOfDirectories(directories: readonly string[]): RingPlace {
  const warn = warnOnce();
  const identities = new AgentIdentities({ table: new EngineTable() });
  const ids = new Map<string, number>();
  const look = (): RingSide => {
    const rings = keptRings(directories, warn);
    const counted = rings.flatMap(({ agent, file, kept }) => (kept === undefined ? [] : [{ agent, file, ...kept }]));
    const writers = findWriters(counted.map(({ file }) => file));
    const agents = counted.map(({ agent, file, tally, startTimeMs }, i): RingAgent => {
      const [pid] = writers[i]!;
      if (!ids.has(file)) ids.set(file, ids.size);
      const id = ids.get(file)!;
      const life = pid === undefined ? 'unknown' : 'alive';
      const { dropped, ...fields } = fieldsOf(tally);
      const engine = identities.of({ id, agent, pid, life });
      return ringAgent({ ...fields, name: agent, life, startTimeMs, engine, lost: dropped, suspect: false });
    });
    return { agents, withoutSums: rings.length - counted.length };
  };
  return { name: directories.join(', '), look: () => Promise.resolve().then(look) };
}

type CountedAgent = Pick<
  AgentModel,
  | ('name' | 'engine' | 'life' | 'startTimeMs' | 'lost' | 'foundFull' | 'suspect')
  | ('txBytes' | 'rxBytes' | 'txRequests' | 'rxRequests' | 'transferUs' | 'postUs')
>;

function ringAgent(agent: CountedAgent): RingAgent {
  const { engine, life, startTimeMs, lost, foundFull = 0, suspect, transferUs = 0, postUs = 0 } = agent;
  const moved = { transfers: requestsOf(agent), bytes: agent.txBytes + agent.rxBytes, transferUs, postUs };
  return { label: labelOfAgent(agent), engine, life, startTimeMs, lost, foundFull, suspect, moved };
}

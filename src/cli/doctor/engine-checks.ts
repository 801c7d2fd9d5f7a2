/** Compares the page of metrics of an engine with the rings of its agents: what serve has of them, or its state files. */
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../../ground/errors.js';
import { listed, plural, wholeText } from '../../ground/figures/figure.js';
import {
  agentsOfPage,
  comparedSums,
  differenceReasons,
  movedSum,
  type RingAgent,
} from '../../engines/engine-comparison.js';
import { enginePageSums, type EnginePageSums } from '../../engines/engine-page.js';
import { EngineTable } from '../../engines/identify.js';
import { AgentIdentities } from '../../instrumentation/agents/agent-identities.js';
import { tallyOptions } from '../../mapping/tally-options.js';
import { Failure } from '../../process/failure.js';
import { warnOnce } from '../../process/output.js';
import { readKeptTally } from '../../shm-bridge/kept-tally.js';
import { findWriters } from '../../shm-bridge/ring.js';
import { AGENTS_PATH, type AgentsAnswer, API } from '../../view/answers/answer.js';
import type { DoctorFinding } from '../../view/answers/doctor-finding.js';
import { type ClientAccess, HttpClient, isSuccess, refusalText } from '../../view/client/client.js';
import { serveAnswer } from '../../view/client/serve-answer.js';
import { addressOfPath, type ServerAddress, withoutSecrets } from '../../view/client/server-address.js';
import { type AgentModel, labelOfAgent, requestsOf, type ServedAgent } from '../../view/model/agent-model.js';
import { fieldsOf } from '../../view/model/from-tally.js';
import { filesBelow } from '../../view/rings/ring-files.js';
import type { Examination } from './checks.js';
import { finding, firstThree, ok } from './finding.js';

/** The rings, at one time. */
interface RingSide {
  readonly agents: readonly RingAgent[];
  readonly serveStartedMs?: number;
  /** Longest time between two flushes of an agent. */
  readonly flushMs?: number;
}

/** A serve, or directories. */
export interface RingPlace {
  readonly name: string;
  readonly look: () => Promise<RingSide>;
}

/** Time after which each side has what the other one had: a flush, a drain, an answer that serve keeps, a step of the engine. */
const SETTLE_MS = 1000;
const MOST_SETTLE_MS = 30_000;

export async function examineEngine(given: ServerAddress, rings: RingPlace): Promise<Examination> {
  const findings = await engineFindings(given, rings);
  return { findings, processes: [], directories: [], servers: [] };
}

async function engineFindings(given: ServerAddress, rings: RingPlace): Promise<DoctorFinding[]> {
  const url = addressOfPath(given.url, 'metrics');
  const subject = given.socketPath === undefined ? withoutSecrets(url).href : given.name;
  const values = { URL: subject, ENGINE: given.name };
  const before = await rings.look();
  const page = await pageAt(given, url).catch(reasonOf);
  if (typeof page === 'string') {
    return [finding('engine-no-page', { subject, what: page, values })];
  }
  const { engine, moved } = page;
  if (moved === undefined) {
    const what = `the page of ${engine} has ${page.page.instead}`;
    return [finding('engine-uncounted', { subject, what, values })];
  }
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const agents = agentsOfPage(before.agents, page, port);
  if (agents.length === 0) {
    const known = [...new Set(before.agents.flatMap(({ engine: one, label }) => (one?.engine ? [label] : [])))];
    const there = known.length === 0 ? 'no agent with a known engine' : firstThree(known);
    return [
      finding('engine-unseen', { subject, what: `no living agent of :${port} at ${rings.name}: ${there}`, values }),
    ];
  }
  const labels = listed(
    agents.map(({ label }) => label),
    3,
  );
  const compared = await comparedAt({ given, url, rings, port }, { page, before, agents });
  return [
    ok('engine', subject, `the page of ${engine} beside ${plural(agents.length, 'agent')} at ${rings.name}: ${labels}`),
    ...compared.map((one) => ('status' in one ? one : finding('engine-differs', { ...one, values }))),
    ...page.beyondRings.map(([what, count]) =>
      finding('engine-failures', { subject, what: `${engine} counts ${what}: ${wholeText(count)}`, values }),
    ),
  ];
}

interface EngineToAsk {
  readonly given: ServerAddress;
  readonly url: URL;
  readonly rings: RingPlace;
  readonly port: string;
}

interface BothSides {
  readonly page: EnginePageSums;
  readonly before: RingSide;
  readonly agents: readonly RingAgent[];
}

type JudgedSum = DoctorFinding | { readonly subject: string; readonly what: string };

/** Reads both sides again where they differ: transfers may go on, and each side counts one at its own time. */
async function comparedAt({ given, url, rings, port }: EngineToAsk, first: BothSides): Promise<JudgedSum[]> {
  const judged = ({ page, agents, before }: BothSides, now: BothSides): JudgedSum[] => {
    const sums = { engine: page.engine, before: movedSum(agents), page: now.page.moved!, after: movedSum(now.agents) };
    const unknown = before.agents.filter(({ engine, life }) => engine?.engine === undefined && life !== 'dead').length;
    const { serveStartedMs } = before;
    return comparedSums(sums).map(({ subject, what, differs }) => {
      if (differs === 0) return ok('engine-equal', subject, what);
      const reasons = differenceReasons(differs, { page: now.page, agents: now.agents, unknown, serveStartedMs });
      return { subject, what: [what, ...reasons].join('; ') };
    });
  };
  const atOnce = judged(first, first);
  if (atOnce.every((one) => 'status' in one)) return atOnce;
  const settleMs = Math.min(MOST_SETTLE_MS, SETTLE_MS + (first.before.flushMs ?? 0));
  await pause(settleMs);
  const page = await pageAt(given, url);
  await pause(settleMs);
  const after = await rings.look();
  return judged(first, { page, before: after, agents: agentsOfPage(after.agents, page, port) });
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
  const isAnswer = (json: unknown): json is AgentsAnswer<ServedAgent> =>
    (json as Partial<AgentsAnswer> | null)?.api === API;
  const question = { path: AGENTS_PATH, parameters: { agents: 'all', detail: 'none' }, what: 'agents', isAnswer };
  const look = async (): Promise<RingSide> => {
    const answer = await serveAnswer(given, access, question);
    if (answer.agents.some(({ transferUs }) => transferUs === undefined)) {
      throw new Failure(`${given.name} has no sums of times: serve is older than this command`);
    }
    const flushMs = Math.max(0, ...answer.agents.map(({ flushIntervalMs = 0 }) => flushIntervalMs));
    return { agents: answer.agents.map(ringAgent), serveStartedMs: answer.startedMs, flushMs };
  };
  return { name: given.name, look };
}

/** The sums that serve keeps beside the rings, before it moves their read positions. */
export function ringsOfDirectories(directories: readonly string[]): RingPlace {
  const [options, warn] = [tallyOptions(), warnOnce()];
  const identities = new AgentIdentities({ table: new EngineTable() });
  const look = (): RingSide => {
    const kept = directories.flatMap((directory) =>
      filesBelow(directory, ({ text }) => warn(text)).flatMap((agent) => {
        const file = path.join(directory, agent);
        const state = readKeptTally(file, options);
        return state === undefined ? [] : [{ agent, file, state }];
      }),
    );
    const writers = findWriters(kept.map(({ file }) => file));
    const agents = kept.map(({ agent, state: { tally, startTimeMs } }, id): RingAgent => {
      const [pid] = writers[id]!;
      const life = pid === undefined ? 'unknown' : 'alive';
      const { dropped, ...fields } = fieldsOf(tally);
      const engine = identities.of({ id, agent, pid, life });
      return ringAgent({ ...fields, name: agent, life, startTimeMs, engine, lost: dropped, suspect: false });
    });
    return { agents };
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

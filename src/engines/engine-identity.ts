/** Identity of an agent among engines: shapes, and a name for people. Pure; the live page uses its types. */

/** Kinds of ranks, as the titles of engines' processes spell them in upper case, in the order of names for people. */
export const RANK_KINDS = ['dp', 'pp', 'pcp', 'tp', 'dcp', 'ep', 'attn_cp', 'moe_dp'] as const;
export type RankKind = (typeof RANK_KINDS)[number];
export type Ranks = Readonly<Partial<Record<RankKind, number>>>;

/** Fields that are texts, and that a row of the configuration can find. */
export const IDENTITY_TEXTS = ['part', 'instance', 'model', 'role'] as const;

/** Names that groups of patterns in rows of the configuration may have. */
export const ROW_GROUPS: readonly string[] = [...IDENTITY_TEXTS, ...RANK_KINDS];

/** A row of the configuration. Groups of the patterns with the names of fields or kinds of ranks give their values. */
export interface ConfiguredEngine {
  readonly engine: string;
  /** Searched in the command lines of the agent's process and its ancestors. */
  readonly command?: string;
  /** Searched in the agent's name. Of two patterns both must match. */
  readonly agent?: string;
}

/** A field that is not known is absent: nothing is guessed. */
export interface EngineIdentity {
  readonly engine?: string;
  /** Part of the engine that owns the agent: `connector`, `tier`, `hicache`. */
  readonly part?: string;
  /** Port of the instance as `:8100`, or the script of a plain Python program. */
  readonly instance?: string;
  readonly model?: string;
  /** `prefill`, `decode`, `encode`, `sender` or `receiver`. */
  readonly role?: string;
  readonly ranks?: Ranks;
  /** Command of the agent's process as it is now: the title that an engine gave it. */
  readonly title?: string;
  /** Process whose command line told the engine: all ranks of an instance have the same. */
  readonly instancePid?: number;
  /** Container of its process, and the names that Kubernetes gave it. */
  readonly containerId?: string;
  readonly namespace?: string;
  readonly pod?: string;
  readonly container?: string;
  /** Name for people; absent if the agent's own name says as much. */
  readonly label?: string;
  /** Reason for which the engine is not known. */
  readonly unknown?: string;
}

/** A process as /proc shows it now. */
export interface ProcessLine {
  readonly pid: number;
  /** Its arguments; one text after a process has renamed itself. */
  readonly argv: readonly string[];
  /** Some variables, as of its start; undefined if they are not readable or overwritten. */
  readonly environment: ReadonlyMap<string, string> | undefined;
}

/** The process of an agent, its parent, and so on. */
export type Lineage = readonly ProcessLine[];

/** Returns `DP0 TP1`; undefined without ranks. */
export function rankText(ranks: Ranks = {}): string | undefined {
  const known = RANK_KINDS.flatMap((kind) =>
    ranks[kind] === undefined ? [] : [`${kind.toUpperCase()}${ranks[kind]}`],
  );
  return known.length === 0 ? undefined : known.join(' ');
}

/** Parts that an agent of this role has anyway. */
const USUAL_PARTS: readonly (string | undefined)[] = ['connector', 'disaggregation'];
/** A UUID, or as many hexadecimal digits as a random number has. */
const RANDOM_NAME = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-|[0-9a-f]{16}/i;

/** What does not follow from command lines and names. */
export type ContainerIdentity = Pick<EngineIdentity, 'containerId' | 'namespace' | 'pod' | 'container'>;

/** Returns `vllm :8100 decode TP1`, in Kubernetes `vllm POD :8100 decode TP1`; undefined if the agent's own name tells people as much. */
export function labelOf(agent: string, identity: EngineIdentity): string | undefined {
  const { engine, part, instance, model, role, ranks, instancePid, pod } = identity;
  if (engine === undefined || (engine === PLAIN_PYTHON && !RANDOM_NAME.test(agent))) return undefined;
  const place = model?.split('/').at(-1) ?? (instancePid === undefined ? undefined : `pid ${instancePid}`);
  const words = [
    engine,
    pod,
    instance ?? (pod === undefined ? place : undefined),
    role,
    USUAL_PARTS.includes(part) ? undefined : part,
    rankText(ranks),
  ];
  return words.filter((word) => word !== undefined && word !== '').join(' ');
}

/** Engine of a Python program that is none of the others. */
export const PLAIN_PYTHON = 'python';

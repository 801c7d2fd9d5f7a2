/**
 * The table of engines: how each names its processes, its command, its role and its agents. One row for each engine, of which the
 * first that fits decides. Strings are those of vLLM 0.33, SGLang 0.5.23, Dynamo 1.6.1, LMCache 0.5.6 and TensorRT-LLM 1.3.0rc29.
 */
import { type IDENTITY_TEXTS, PLAIN_PYTHON, type ProcessLine } from './engine-identity.js';

/** Answers about the process whose command line told the engine. */
export interface Launch {
  /** Returns the value of the first of these flags, as `--port 1` or `--port=1`. */
  readonly flag: (...names: string[]) => string | undefined;
  /** Returns a variable of the agent's process or of its nearest ancestor that has it. */
  readonly variable: (name: string) => string | undefined;
  readonly argv: readonly string[];
}

/** Names of an engine's own series with the same sums as the rings of its agents. */
export interface EngineSeries {
  /** Part of the engine; these series count its agents alone. */
  readonly part: string;
  readonly transfers: string;
  readonly bytes: string;
  readonly seconds: string;
  readonly postSeconds: string;
  /** Counters of what no ring shows, with what they count. */
  readonly beyondRings: Readonly<Record<string, string>>;
}

/** An engine's own page of metrics. */
export interface EnginePage {
  /** Beginning of the names of its series. */
  readonly prefix: string;
  /** Absent where no series is known to count NIXL's transfers. */
  readonly series?: EngineSeries;
  /** Names what the page has in place of `series`, or without them. */
  readonly instead: string;
}

export interface EngineRow {
  readonly engine: string;
  /** Its name in prose; absent if its command alone does not mean that agents will follow. */
  readonly name?: string;
  /** Title of a process that renamed itself. */
  readonly title?: RegExp;
  /** Command line of the agent's process or of an ancestor, joined by blanks. */
  readonly command: RegExp;
  /** True if only the agent's own process counts. */
  readonly ownCommand?: boolean;
  readonly page?: EnginePage;
  /** `part`: of an agent whose name is a UUID alone. */
  readonly about: (launch: Launch) => { readonly [Field in (typeof IDENTITY_TEXTS)[number]]?: string | undefined };
}

const port = (text: string | undefined): string | undefined =>
  text !== undefined && /^[1-9]\d{0,4}$/.test(text) ? `:${text}` : undefined;

/** `agg` and `null` are no roles. */
const disaggregation = (text: string | undefined): string | undefined =>
  text !== undefined && ['prefill', 'decode', 'encode'].includes(text) ? text : undefined;

const VLLM_ROLES: Readonly<Record<string, string>> = { kv_producer: 'prefill', kv_consumer: 'decode' };

function kvTransfer({ flag }: Launch): { readonly connector: string; readonly role: string | undefined } {
  const text = flag('--kv-transfer-config', '--kv_transfer_config') ?? '';
  const field = (name: string): string =>
    new RegExp(`"${name}"\\s*:\\s*"(\\w{1,80})"`).exec(text)?.[1] ?? flag(`--kv-transfer-config.${name}`) ?? '';
  return { connector: field('kv_connector'), role: VLLM_ROLES[field('kv_role')] };
}

const connectorPart = (connector: string): string | undefined =>
  /^Nixl\w*Connector$/.test(connector) ? 'connector' : connector.startsWith('LMCache') ? 'lmcache' : undefined;

/** Returns the argument behind a word, unless it is a flag. */
function behind(argv: readonly string[], word: string): string | undefined {
  const at = argv.indexOf(word);
  const next = at === -1 ? undefined : argv[at + 1];
  return next?.startsWith('-') === false ? next : undefined;
}

export const ENGINES: readonly EngineRow[] = [
  {
    engine: 'dynamo',
    name: 'Dynamo',
    command: /(?:^| )-m dynamo\.(?:vllm|sglang|trtllm)\b/,
    page: {
      prefix: 'dynamo_',
      instead: 'times that a frontend estimates; a worker that runs vLLM may have those of vLLM',
    },
    about: (launch) => ({
      instance: port(launch.variable('DYN_SYSTEM_PORT')) ?? port(launch.flag('--port')),
      model: launch.flag('--served-model-name', '--model', '--model-path'),
      role: disaggregation(launch.flag('--disaggregation-mode')) ?? disaggregation(launch.variable('DYN_COMPONENT')),
      part: connectorPart(kvTransfer(launch).connector),
    }),
  },
  {
    engine: 'vllm',
    name: 'vLLM',
    title: /^VLLM::/,
    command: /(?:^|[/ ])vllm serve(?: |$)|(?:^| )-m vllm\.entrypoints\b/,
    page: {
      prefix: 'vllm:',
      series: {
        part: 'connector',
        transfers: 'vllm:nixl_xfer_time_seconds_count',
        bytes: 'vllm:nixl_bytes_transferred_sum',
        seconds: 'vllm:nixl_xfer_time_seconds_sum',
        postSeconds: 'vllm:nixl_post_time_seconds_sum',
        beyondRings: {
          'vllm:nixl_num_failed_transfers_total': 'failed transfers, handshakes and notifications',
          'vllm:nixl_num_kv_expired_reqs_total': 'requests whose KV cache expired before a peer had read it',
          'vllm:nixl_num_notifications_after_expiry_total': 'reads that ended after the KV cache had expired',
        },
      },
      instead: 'no vllm:nixl_* series, which it has with the NixlConnector and statistics alone',
    },
    about: (launch) => {
      const { connector, role } = kvTransfer(launch);
      return {
        instance: port(launch.flag('--port')),
        model: launch.flag('--served-model-name', '--model') ?? behind(launch.argv, 'serve'),
        role,
        part: connectorPart(connector),
      };
    },
  },
  {
    engine: 'sglang',
    name: 'SGLang',
    title: /^(?:sglang|sgl_diffusion)::/,
    command: /(?:^| )-m sglang\.launch_server\b|(?:^|[/ ])sglang serve(?: |$)/,
    page: { prefix: 'sglang:', instead: 'speed, latency and size of the KV caches of requests, sglang:kv_transfer_*' },
    about: (launch) => {
      const role = disaggregation(launch.flag('--disaggregation-mode'));
      return {
        instance: port(launch.flag('--port')),
        model: launch.flag('--served-model-name', '--model-path', '--model'),
        role,
        part: role === undefined ? undefined : 'disaggregation',
      };
    },
  },
  {
    engine: 'trtllm',
    name: 'TensorRT-LLM',
    command: /(?:^|[/ ])trtllm-(?:serve|llmapi-launch)(?: |$)|(?:^| )-m tensorrt_llm\b/,
    page: { prefix: 'trtllm_', instead: 'counts and times of requests, trtllm_kv_transfer_*' },
    about: (launch) => ({
      instance: port(launch.flag('--port')),
      model: behind(launch.argv, 'serve') ?? launch.flag('--model'),
    }),
  },
  {
    engine: 'lmcache',
    page: {
      prefix: 'lmcache:',
      instead: 'times and speeds of reads and writes by LMCache, lmcache:p2p_* and lmcache:remote_*',
    },
    command: /(?:^|[/ ])lmcache(?:_server|_controller)?(?: |$)|(?:^| )-m lmcache\b/,
    about: (launch) => ({ instance: port(launch.flag('--port')) }),
  },
  {
    engine: 'ray',
    title: /^ray::/,
    command: /^ray::/,
    about: () => ({}),
  },
  {
    engine: PLAIN_PYTHON,
    command: /^(?:[^ ]*\/)?python[\d.]*(?: |$)/,
    ownCommand: true,
    about: ({ argv, flag }) => ({ instance: scriptOf(argv), role: disaggregation(flag('--disaggregation-mode')) }),
  },
];

/** Flags of Python that take a value. */
const WITH_VALUE = ['-W', '-X', '--check-hash-based-pycs'];

/** Returns the module or the file name of the script that Python runs; undefined for code in its arguments. */
function scriptOf(argv: readonly string[]): string | undefined {
  for (let i = 1; i < argv.length; i++) {
    const one = argv[i]!;
    if (one === '-m') return argv[i + 1];
    if (one === '-c' || one === '-') return undefined;
    if (!one.startsWith('-')) return one.split('/').at(-1);
    if (WITH_VALUE.includes(one)) i++;
  }
  return undefined;
}

/** Variables that rows read. */
export const ENGINE_VARIABLES = ['DYN_SYSTEM_PORT', 'DYN_COMPONENT'] as const;

/** Names that tell of themselves. Groups are fields or kinds of ranks. `engine`: if no process tells another. */
export interface AgentNameRow {
  readonly engine?: string;
  readonly name: RegExp;
  readonly part?: string;
  /**
   * Beginnings of such names, before a UUID, that the engine makes anew at each start: no agent opens such a ring again. A Ray actor
   * keeps its name when it restarts.
   */
  readonly fresh?: readonly string[];
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
export const UUID_NAME = new RegExp(`^${UUID}$`, 'i');

export const AGENT_NAMES: readonly AgentNameRow[] = [
  { engine: 'vllm', name: /^eplb-(?<ep>\d{1,6})-(?:pp(?<pp>\d{1,6})-)?[0-9a-f]{8}$/, part: 'rebalancing' },
  { engine: 'vllm', name: /^ObjAgent$/, part: 'tier' },
  { engine: 'sglang', name: new RegExp(`^hicache_nixl_${UUID}$`), part: 'hicache', fresh: ['hicache_nixl_'] },
  {
    engine: 'lmcache',
    name: new RegExp(`^(?:Dyn)?NixlAgent_${UUID}$`),
    part: 'lmcache',
    fresh: ['NixlAgent_', 'DynNixlAgent_'],
  },
  {
    engine: 'dynamo',
    name: new RegExp(`^(?<role>sender|receiver)_${UUID}$`),
    part: 'embedding',
    fresh: ['sender_', 'receiver_'],
  },
  { engine: 'dynamo', name: /^remote-g2-source-/, part: 'remote-host-cache' },
  { name: /^CONNECTOR-\d+$/, part: 'connect' },
  { engine: 'ray', name: new RegExp(`^RAY-DRIVER-${UUID}$`), part: 'driver', fresh: ['RAY-DRIVER-'] },
];

/** With the empty one: a name may be a UUID alone. */
export const FRESH_NAMES: readonly string[] = ['', ...AGENT_NAMES.flatMap(({ fresh = [] }) => fresh)];

/** Shells whose argument is a program: that text is no command line. */
export function isShellText({ argv }: ProcessLine): boolean {
  return /(?:^|\/)(?:ba|da|z|k)?sh$/.test(argv[0] ?? '') && argv.some((one) => /^-\w*c\w*$/.test(one));
}

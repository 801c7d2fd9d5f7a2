/** Attributes of series, by their labels in naming `nixl`: for docs/metrics.md and the registry in semconv/. */

/** `values`: sentence in place of a list, if the values are not fixed. `foreign`: defined elsewhere, not by this package. */
export const ATTRIBUTES = [
  {
    label: 'agent_name',
    brief: 'Name of the agent, which is the path of its ring below the directory.',
    values: 'any name',
    examples: ['decode-0', 'host-1/prefill-3'],
    requirement: 'required',
  },
  { label: 'hostname', name: 'host.name', brief: 'Name of the host.', values: 'any name', foreign: 'resource' },
  {
    label: 'ring_directory',
    brief: 'Directory of the ring.',
    values: 'a path; of agents only if they have equal names',
    examples: ['/dev/shm/nixl'],
    requirement: { conditionally_required: 'If agents in several directories have the same name.' },
  },
  { label: 'status', brief: "NIXL's status of the failed operation.", foreign: 'semconv' },
  { label: 'direction', brief: 'Direction of a transfer, as seen by the agent that asked for it.' },
  {
    label: 'up_to_bytes',
    brief: 'Bound of the sizes of a class, inclusive; a class begins above half of it.',
    values: 'a power of two from `1024` to `1073741824`, or `+Inf`',
    examples: ['65536', '+Inf'],
  },
  { label: 'category', brief: "NIXL's category of the event; `overflow` for the sum of surplus events." },
  {
    label: 'event',
    brief: 'Name of the event.',
    values: 'the name of an event, `type_` and a number, or `overflow`',
    examples: ['agent_tx_bytes', 'type_21'],
  },
  { label: 'life', brief: "Life of the agent's process; `unknown`: it cannot be seen." },
  {
    label: 'state',
    brief:
      'Reason why a file or directory is not read; `deleted`: it is read, and cannot be opened again; `no_state`: it is read without its state file; `unseen`: lives of its agents cannot be seen.',
  },
  {
    label: 'use',
    brief:
      'What the space of a directory is for; `lacking`: the part of `free` that rings of living agents may yet take.',
  },
  { label: 'outcome', brief: 'Outcome of the duration.' },
  {
    label: 'exporter',
    brief: 'Exporter of `serve`.',
    values: 'a name, or the file name of a module',
    examples: ['prometheus', 'otlp'],
  },
  { label: 'result', brief: 'Result of an export.' },
  {
    label: 'display_name',
    brief: "Name of the agent for people, made of the others, or NIXL's own.",
    values: 'engine, instance, role, part and ranks, as far as they are known',
    examples: ['vllm :8100 decode TP1'],
  },
  {
    label: 'engine',
    brief: 'Engine that has the agent, by the command or title of its process or an ancestor, or by its name.',
    values: '`vllm`, `sglang`, `dynamo`, `trtllm`, `lmcache`, `ray`, `python`, or one that `engines` names',
    examples: ['vllm'],
  },
  {
    label: 'part',
    brief: 'Part of the engine that has the agent.',
    values: 'a word of the table of engines',
    examples: ['connector', 'rebalancing', 'hicache'],
  },
  {
    label: 'engine_instance',
    brief: 'Port of the instance, or the script of a Python program.',
    values: 'a port behind `:`, or a name',
    examples: [':8100'],
  },
  {
    label: 'model',
    brief: 'Model, as the command line of the instance names it.',
    values: 'any name',
    examples: ['meta-llama/Llama-3.1-8B'],
  },
  {
    label: 'role',
    brief: 'Role of the instance in disaggregated serving; `kv_both` and `agg` are none.',
    values: '`prefill`, `decode`, `encode`, `sender`, `receiver`',
    examples: ['decode'],
  },
  ...['data', 'pipeline', 'tensor', 'expert'].map((kind) => ({
    label: `${kind[0]}p_rank`,
    brief: `Rank in ${kind} parallelism, as the title of the process says; absent if the engine does not say it.`,
    values: 'a number',
    examples: ['0'],
  })),
  { label: 'ranks', brief: 'All ranks of the agent.', values: 'kinds and numbers', examples: ['DP0 TP1'] },
  ...['wrote', 'read'].map((verb) => ({
    label: verb === 'wrote' ? 'way_tx' : 'way_rx',
    brief: `Way of the bytes that the agent ${verb}, after a minute in which it was certain; a later doubt keeps it.`,
    values: '`tcp`, `rdma`, `storage` or `mixed` by ports, or `neither`',
    examples: ['rdma by mlx5_0/1'],
  })),
  {
    label: 'container_id',
    brief: "Container of the agent's process, from its cgroup.",
    values: '64 digits',
    foreign: 'semconv',
  },
  ...['namespace', 'pod', 'container'].map((label) => ({
    label,
    brief: `Kubernetes' name of the ${label}, by the kubelet's links to logs.`,
    values: 'any name',
    foreign: 'semconv',
  })),
  { label: 'pid', brief: "Agent's process.", values: 'a number', foreign: 'semconv' },
  { label: 'version', brief: 'Version of this package.', values: 'a version', foreign: 'semconv' },
  { label: 'node_version', brief: 'Version of Node.js.', values: 'a version', foreign: 'semconv' },
  { label: 'reason', brief: 'Reason for which `serve` refused a client; `handshake`: TLS could not begin.' },
  { label: 'kind', brief: 'Kind of the finding.' },
  { label: 'level', brief: 'Level of the finding; `alarm`: a person should act, `note`: worth knowing.' },
];

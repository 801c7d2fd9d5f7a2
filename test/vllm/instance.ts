/** A running `vllm serve` with NIXL's connector. */
import path from 'node:path';
import { onTestFailed } from 'vitest';
import { RunningCommand, scrape, until } from '../cli/command.js';
import { CACHE } from '../real/go-tool.js';
import { freePort } from '../support/free-port.js';
import { MOST_TOKENS, promptOf } from './model.js';

export const MODEL = 'tiny';

export interface InstanceOptions {
  /** Folder of vLLM's programs. */
  programs: string;
  model: string;
  /** Directory of the rings. */
  directory: string;
  role: 'kv_producer' | 'kv_consumer';
  /** Workers, one per rank of tensor parallelism. */
  workers?: number;
}

export class VllmInstance {
  readonly port: number;
  readonly #command: RunningCommand;

  /** Starts it. Until it answers, a minute or more passes. */
  static async start(options: InstanceOptions): Promise<VllmInstance> {
    const instance = new VllmInstance(options, await freePort(), await freePort());
    onTestFailed(() => console.log(`the end of what ${options.role} at ${instance.url} printed:\n${instance.end}`));
    return instance;
  }

  private constructor({ programs, model, directory, role, workers = 1 }: InstanceOptions, port: number, side: number) {
    this.port = port;
    const transfer = { kv_connector: 'NixlConnector', kv_role: role, kv_buffer_device: 'cpu' };
    const flags = {
      ...{ 'served-model-name': MODEL, host: '127.0.0.1', port, 'max-model-len': MOST_TOKENS, 'max-num-seqs': 8 },
      // Some CPUs that claim AMX end a process that uses it for bfloat16.
      ...{ dtype: 'float32', 'load-format': 'dummy', 'tensor-parallel-size': workers },
      'kv-transfer-config': JSON.stringify(transfer),
    };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const env = {
      ...{ NIXL_TELEMETRY_ENABLE: 'y', NIXL_TELEMETRY_DIR: directory },
      ...{ VLLM_NIXL_SIDE_CHANNEL_HOST: '127.0.0.1', VLLM_NIXL_SIDE_CHANNEL_PORT: String(side), UCX_TLS: 'tcp,self' },
      ...{ VLLM_CPU_KVCACHE_SPACE: '1', VLLM_CPU_OMP_THREADS_BIND: 'nobind', OMP_NUM_THREADS: '1' },
      ...{ HF_HUB_OFFLINE: '1', VLLM_NO_USAGE_STATS: '1', DO_NOT_TRACK: '1' },
      VLLM_CACHE_ROOT: path.join(CACHE, 'vllm-cache'),
      PATH: [programs, process.env['PATH']].join(path.delimiter),
    };
    const program = path.join(programs, 'vllm');
    this.#command = new RunningCommand(program, ['serve', model, '--enforce-eager', ...args], env, model, true);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.#command.child.pid!;
  }

  /** The end of all that its processes have printed. */
  get end(): string {
    const { stdout, stderr } = this.#command;
    return [stdout, stderr].map((text) => text.slice(-6000)).join('\n');
  }

  async answers(): Promise<this> {
    const { child } = this.#command;
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`vLLM ended:\n${this.end}`);
      return fetch(`${this.url}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    });
    // The first step takes seconds on a busy machine, in which a peer's KV cache could expire.
    await this.complete({ prompt: promptOf(64, 0), max_tokens: 4 });
    return this;
  }

  metrics(): Promise<string> {
    return scrape(`${this.url}/metrics`);
  }

  /** Asks for a completion. @throws with the answer unless it is a success */
  async complete<T>(body: object): Promise<T> {
    const answer = await fetch(`${this.url}/v1/completions`, {
      method: 'POST',
      // vLLM closes a connection that was idle for five seconds, perhaps while the next request is on its way.
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ model: MODEL, temperature: 0, ignore_eos: true, ...body }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${this.url}: ${answer.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** Ends it as an operator does: the signal reaches its first process. */
  async stop(): Promise<void> {
    this.#command.child.kill('SIGTERM');
    await this.#command.ended;
  }

  /** Kills all its processes at once. */
  async kill(): Promise<void> {
    await this.#command.stop('SIGKILL');
  }
}

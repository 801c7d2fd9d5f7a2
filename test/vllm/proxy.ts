/** Requests as a proxy of disaggregated serving makes them. */
import { randomUUID } from 'node:crypto';
import type { VllmInstance } from './instance.js';
import { promptOf } from './model.js';

export interface Pair {
  prefill: VllmInstance;
  decode: VllmInstance;
}

/** Numbers of prompts, each used once. */
let number = 1;

/** A prompt whose KV cache the prefill instance keeps until a decode instance has read it. */
interface Kept {
  body: object;
  kv_transfer_params: object;
}

/** Lets the prefill instance fill the KV cache of a new prompt, and keep it. */
export async function prefilled(prefill: VllmInstance, tokens: number): Promise<Kept> {
  const body = { prompt: promptOf(tokens, number++), request_id: randomUUID() };
  const keep = { do_remote_decode: true, do_remote_prefill: false };
  const nowhere = { remote_engine_id: null, remote_block_ids: null, remote_host: null, remote_port: null };
  const { kv_transfer_params } = await prefill.complete<Kept>({
    ...body,
    max_tokens: 1,
    kv_transfer_params: { ...keep, ...nowhere },
  });
  return { body, kv_transfer_params };
}

/** Lets the decode instance read it, and make some tokens. */
export async function decoded(decode: VllmInstance, { body, kv_transfer_params }: Kept): Promise<void> {
  await decode.complete({ ...body, max_tokens: 4, kv_transfer_params });
}

/** Asks for so many completions, of prompts of several lengths, `atOnce` at a time. */
export async function askOften({ prefill, decode }: Pair, requests: number, atOnce = 1): Promise<void> {
  let asked = 0;
  const client = async (): Promise<void> => {
    while (asked < requests) await decoded(decode, await prefilled(prefill, 100 + ((40 * asked++) % 1500)));
  };
  await Promise.all(Array.from({ length: atOnce }, client));
}

/** Gives an instance requests without a transfer, several at a time, until the work is done. */
export async function underLoad(instance: VllmInstance, atOnce: number, work: () => Promise<void>): Promise<void> {
  let isDone = false;
  const client = async (): Promise<void> => {
    while (!isDone) await instance.complete({ prompt: promptOf(1500, number++), max_tokens: 32 });
  };
  const clients = Array.from({ length: atOnce }, client);
  await work().finally(() => (isDone = true));
  await Promise.all(clients);
}

/** A language model of two layers, whose weights vLLM draws itself. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export const MOST_TOKENS = 2048;
const WORDS = 512;
const SPECIAL = ['<s>', '</s>'];
/** Also the number of ways in which tensor parallelism can divide a layer. */
const HEADS = 4;
const HEAD_SIZE = 64;

const CONFIG = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  dtype: 'float32',
  vocab_size: WORDS,
  hidden_size: HEADS * HEAD_SIZE,
  intermediate_size: HEADS * HEAD_SIZE,
  num_hidden_layers: 2,
  num_attention_heads: HEADS,
  num_key_value_heads: HEADS,
  head_dim: HEAD_SIZE,
  max_position_embeddings: MOST_TOKENS,
  bos_token_id: 0,
  eos_token_id: 1,
};

/** Its words are w2, w3 and so on. */
const TOKENIZER = {
  version: '1.0',
  added_tokens: SPECIAL.map((content, id) => ({
    ...{ id, content, special: true, normalized: false },
    ...{ single_word: false, lstrip: false, rstrip: false },
  })),
  pre_tokenizer: { type: 'Whitespace' },
  model: {
    type: 'WordLevel',
    unk_token: SPECIAL[1],
    vocab: Object.fromEntries(Array.from({ length: WORDS }, (_, id) => [SPECIAL[id] ?? `w${id}`, id])),
  },
};

const TOKENIZER_CONFIG = {
  tokenizer_class: 'PreTrainedTokenizerFast',
  model_max_length: MOST_TOKENS,
  bos_token: SPECIAL[0],
  eos_token: SPECIAL[1],
  unk_token: SPECIAL[1],
};

/** Makes the model's folder. */
export function writeModel(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const files = { config: CONFIG, tokenizer: TOKENIZER, tokenizer_config: TOKENIZER_CONFIG };
  for (const [name, json] of Object.entries(files)) {
    writeFileSync(path.join(folder, `${name}.json`), JSON.stringify(json));
  }
  return folder;
}

/** Returns a prompt, as numbers of tokens: another one for each number, so that no cache has its beginning. */
export function promptOf(tokens: number, number: number): number[] {
  const usable = WORDS - SPECIAL.length;
  return Array.from({ length: tokens }, (_, at) => SPECIAL.length + ((at === 0 ? number : at * (number + 7)) % usable));
}

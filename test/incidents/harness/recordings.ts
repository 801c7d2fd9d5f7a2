/** Samples of cases on disk, so that the judge of slowness alone can be run over them again. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { JudgedAgent } from '../../../src/view/slowness/slowness-judge.js';
import type { JudgedSample } from './slowness.js';

/** Only the agents that changed since the sample before, and the ids of all. */
interface KeptSample {
  readonly takenMs: number;
  readonly ids: readonly number[];
  readonly changed: readonly JudgedAgent[];
}

export class Recording {
  readonly #samples: KeptSample[] = [];
  #counts = new Map<number, bigint>();

  add({ takenMs, agents }: JudgedSample): void {
    const changed = agents.filter(({ id, timeBySize }) => {
      const count = timeBySize === undefined ? 0n : timeBySize.receive.flushSquares + timeBySize.transmit.flushSquares;
      const isNew = this.#counts.get(id) !== count;
      this.#counts.set(id, count);
      return isNew;
    });
    this.#samples.push({ takenMs, ids: agents.map(({ id }) => id), changed });
  }

  write(folder: string, name: string): void {
    mkdirSync(folder, { recursive: true });
    writeFileSync(fileOf(folder, name), serialize(this.#samples));
  }
}

export function isRecorded(folder: string, name: string): boolean {
  return existsSync(fileOf(folder, name));
}

export function* samplesIn(folder: string, name: string): Generator<JudgedSample> {
  const agents = new Map<number, JudgedAgent>();
  for (const { takenMs, ids, changed } of deserialize(readFileSync(fileOf(folder, name))) as KeptSample[]) {
    for (const agent of changed) agents.set(agent.id, agent);
    yield { takenMs, agents: ids.map((id) => agents.get(id)!) };
  }
}

function fileOf(folder: string, name: string): string {
  return path.join(folder, `${name}.samples`);
}

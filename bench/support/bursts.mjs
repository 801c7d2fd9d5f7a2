/** A process with agents that flush like NIXL's: native/bench/bursts.cc. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { benchProgram } from './measure.mjs';

/** The most that an agent writes at NIXL's defaults: 4096 slots, of which one stays empty, every 100 ms. */
export const NIXL_DEFAULT = { capacity: 4096, events: 4095, intervalMs: 100 };
/** A large ring and a short flush: 2.5 million events per second and agent. */
export const FULL_RATE = { capacity: 65_536, events: 25_000, intervalMs: 10 };
export const IDLE = { capacity: 4096, events: 0, intervalMs: 1000 };

export class Bursts {
  #child;
  #lastLine;

  /** Makes the rings. */
  static async start(directory, agents, { capacity, events, intervalMs }, wireVersion = 4) {
    const bursts = new Bursts();
    const args = [directory, agents, wireVersion, capacity, events, intervalMs].map(String);
    const child = spawn(benchProgram('bursts'), args, { stdio: ['pipe', 'pipe', 'inherit'] });
    bursts.#child = child;
    const lines = createInterface({ input: child.stdout });
    const ready = new Promise((resolve) => lines.once('line', resolve));
    bursts.#lastLine = new Promise((resolve, reject) => {
      lines.on('line', (line) => line.startsWith('{') && resolve(JSON.parse(line)));
      child.once('close', (code) => reject(new Error(`bursts ended with ${code}`)));
    });
    bursts.#lastLine.catch(() => {}); // stop() reports it
    await Promise.race([ready, bursts.#lastLine]);
    return bursts;
  }

  /** Begins with the first flush. */
  begin() {
    this.#child.stdin.write('begin\n');
  }

  /** Ends the agents. @returns the numbers of events that were written, and that full rings refused. */
  stop() {
    this.#child.stdin.end();
    return this.#lastLine;
  }
}

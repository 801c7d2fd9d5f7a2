// Load of agents: some stay, some restart in place repeatedly, and waves of new ones end or are killed. Each reports its
// totals at its end, unless it is killed.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../native/build/transfer-source', import.meta.url));
const WAVE_SECONDS = 8;
const KILLED_AGENTS = 2;

export class Agents {
  #directory;
  #running = new Set();
  #stopping = false;
  #waves = [];
  /** Reports of the ended agents, by name. */
  ended = new Map();
  totals = { written: 0, refused: 0, wiped: 0, restarts: 0 };
  killed = 0;
  failures = [];

  constructor(directory) {
    this.#directory = directory;
  }

  /** Starts three quarters that stay, an eighth that restarts in place, and an eighth as waves. */
  start(agents, seconds) {
    const few = Math.max(1, Math.floor(agents / 8));
    const steady = agents - 2 * few;
    this.#run('steady', ['--agents', steady, '--processes', 4, '--seconds', seconds, '--rate', 20, '--errors', 2]);
    const again = ['--restart-every', 1700, '--restart-sizes', '4096,1024,16384'];
    this.#run('again', ['--agents', few, '--seconds', seconds, '--rate', 30, '--wire-version', 3, ...again]);
    this.#waves = [this.#waveAfterWave('wave', few), this.#killedOnes()];
  }

  /** Ends the agents that still run, and waits for all. */
  async end() {
    this.#stopping = true;
    for (const child of this.#running) child.kill('SIGTERM');
    await Promise.all([...this.#waves, ...[...this.#running].map((child) => child.finished)]);
  }

  async #waveAfterWave(name, agents) {
    for (let i = 0; !this.#stopping; i++) {
      // Each wire version in turn, and a new name each time.
      const flags = ['--agents', agents, '--seconds', WAVE_SECONDS, '--rate', 50, '--wire-version', 1 + (i % 5)];
      await this.#run(`${name}-${i}`, flags).finished;
    }
  }

  async #killedOnes() {
    for (let i = 0; !this.#stopping; i++) {
      const child = this.#run(`killed-${i}`, ['--agents', KILLED_AGENTS, '--seconds', 0, '--rate', 100], true);
      const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
      await child.finished;
      clearTimeout(timer);
      this.killed += KILLED_AGENTS;
    }
  }

  #run(name, flags, mayDie = false) {
    const args = [
      '--dir',
      this.#directory,
      '--name',
      name,
      '--with-parent',
      process.pid,
      '--sizes',
      '4k:1',
      '--wait-for-room',
      ...flags,
    ];
    const child = spawn(PROGRAM, args.map(String), { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#running.add(child);
    let text = '';
    child.stdout.on('data', (part) => (text += part));
    child.finished = new Promise((resolve) => {
      child.once('close', (code) => {
        this.#running.delete(child);
        if (code === 0 && !mayDie) this.#count(JSON.parse(text.trim().split('\n').at(-1)));
        else if (!mayDie) this.failures.push(`${name} ended with ${code}`);
        resolve();
      });
    });
    return child;
  }

  #count({ agents, totals }) {
    for (const agent of agents) this.ended.set(agent.agent, agent);
    for (const key of Object.keys(this.totals)) this.totals[key] += totals[key];
  }
}

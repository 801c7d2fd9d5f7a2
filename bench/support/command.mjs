/** A running program, its output line by line. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { MAIN, sleep } from './measure.mjs';

export class Command {
  lines = [];
  errorText = '';
  #child;
  #ended;
  #end;

  static nixlOtel(...args) {
    return new Command(process.execPath, [MAIN, ...args]);
  }

  constructor(program, args) {
    this.#child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.lines.push(line));
    this.#child.stderr.setEncoding('utf8').on('data', (text) => (this.errorText += text));
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve((this.#end = error.message)));
      this.#child.once('close', (code, signal) => resolve((this.#end = `ended with ${code ?? signal}`)));
    });
    process.once('exit', this.#kill);
  }

  get pid() {
    return this.#child.pid;
  }

  /** Asks until the answer is neither undefined nor false. @throws if the program ended. */
  async until(ask) {
    for (;;) {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
      this.mustRun();
      await sleep(20);
    }
  }

  /** @throws if the program ended. */
  mustRun() {
    if (this.#end === undefined) return;
    throw new Error(`${this.#child.spawnargs.join(' ')}: ${this.#end}: ${this.errorText}`);
  }

  async stop() {
    this.#kill();
    process.off('exit', this.#kill);
    await this.#ended;
  }

  #kill = () => this.#child.kill('SIGKILL');
}

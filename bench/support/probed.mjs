/** A Node process that reports its costs: probe.mjs is loaded into it. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { MAIN } from './measure.mjs';

const PROBE = new URL('probe.mjs', import.meta.url).href;
const SERVICE = fileURLToPath(new URL('service.mjs', import.meta.url));

export class Probed {
  #child;
  #ended;
  /** Address of the metrics of serve. */
  url;

  /** Starts `nixl-otel serve`. */
  static async serve(directory, flags = []) {
    const probed = new Probed(MAIN, ['serve', '--dir', directory, '--port', '0', ...flags]);
    probed.url = await new Promise((resolve, reject) => {
      let text = '';
      probed.#child.stderr.on('data', (part) => {
        text += part;
        const found = /http:\S+\/metrics/.exec(text);
        if (found !== null) resolve(found[0]);
      });
      probed.#ended.then((end) => reject(new Error(`serve ended (${end}): ${text}`)));
    });
    return probed;
  }

  /** Starts a service without other work: `empty`, or with the package in it. */
  static async service(kind, directory, agents) {
    const probed = new Probed(SERVICE, [kind, directory, String(agents)]);
    probed.#child.stderr.pipe(process.stderr);
    await probed.#next('ready');
    return probed;
  }

  constructor(module, args) {
    this.#child = fork(module, args, { execArgv: ['--import', PROBE], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    this.#ended = new Promise((resolve) => this.#child.once('close', (code, signal) => resolve(code ?? signal)));
  }

  async ask(what, more = {}) {
    this.#child.send({ ask: what, ...more });
    return (await this.#next('answer')).answer;
  }

  /** Kills it: the rest of its work is not measured. */
  async stop() {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  #next(key) {
    return new Promise((resolve, reject) => {
      const take = (message) => {
        if (!(key in message)) return;
        this.#child.off('message', take);
        resolve(message);
      };
      this.#child.on('message', take);
      void this.#ended.then((end) => reject(new Error(`the process ended (${end})`)));
    });
  }
}

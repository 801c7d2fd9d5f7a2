/** Programs from `fetch.mjs` or a variable, as servers on a free port. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { ROOT, RunningCommand, temporaryDirectory, until } from '../cli/command.js';
import { freePort } from '../support/free-port.js';

/** Returns the path of a program. @throws when it is neither fetched nor named. */
export function program(name: string): string {
  const variable = name.toUpperCase().replaceAll('-', '_');
  const file = process.env[variable] ?? path.join(ROOT, 'node_modules/.cache/servers', name);
  if (existsSync(file)) return file;
  throw new Error(`${file} is not there: run node test/servers/fetch.mjs, or set ${variable} to the program's path`);
}

/** A server that can be restarted, on the same port and with its stored data. */
export class Server {
  readonly url: string;
  readonly directory = temporaryDirectory();
  readonly #program: string;
  readonly #args: (directory: string, address: string) => string[];
  readonly #ready: string;
  readonly #address: string;
  #running: RunningCommand;

  private constructor(options: ServerOptions, port: number) {
    this.#program = program(options.program);
    this.#args = options.args;
    this.#ready = options.ready;
    this.#address = `127.0.0.1:${port}`;
    this.url = `http://${this.#address}`;
    this.#running = this.#spawn();
  }

  static async start(options: ServerOptions): Promise<Server> {
    const server = new Server(options, await freePort());
    await server.isReady();
    return server;
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    await this.#running.stop(signal);
  }

  /** Sends a signal that does not end it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#running.child.kill(signal);
  }

  async startAgain(): Promise<void> {
    this.#running = this.#spawn();
    await this.isReady();
  }

  /** Waits for a text on its standard error. @throws if it ends without saying it */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#running.says(pattern);
  }

  /** Gets JSON. @throws with the answer unless it is a success. */
  async get<T>(where: string, parameters: Record<string, string> = {}): Promise<T> {
    const response = await fetch(`${this.url}${where}?${new URLSearchParams(parameters).toString()}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`${where} ${JSON.stringify(parameters)}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  #spawn(): RunningCommand {
    return new RunningCommand(this.#program, this.#args(this.directory, this.#address), {}, this.directory);
  }

  async isReady(): Promise<void> {
    const { child } = this.#running;
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${this.#program} ended:\n${this.#running.stderr}`);
      return fetch(`${this.url}${this.#ready}`).then(
        ({ ok }) => ok,
        () => false,
      );
    });
  }
}

export interface ServerOptions {
  program: string;
  args: (directory: string, address: string) => string[];
  /** Path that answers with success once the server works. */
  ready: string;
}

/** A serve with a web configuration that a test writes, and may write again. */
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { hashSync } from 'bcryptjs';
import { stringify } from 'yaml';
import { ask, type Asked, type Shown } from '../../support/certificates.js';
import { type RunningCommand, start, temporaryDirectory, valueOf } from '../../cli/command.js';

/** The lowest cost: a comparison takes milliseconds. */
export const hashOf = (password: string): string => hashSync(password, 4);

export class GuardedServe {
  readonly file = path.join(temporaryDirectory(), 'web.yml');
  readonly command: RunningCommand;
  readonly #shown: Shown;
  #url = '';

  /** `shown`: what the test's own requests show. */
  constructor(config: object | string, shown: Shown, flags: readonly string[] = []) {
    this.#shown = shown;
    this.write(config);
    const args = ['serve', '--dir', temporaryDirectory(), '--listen', '127.0.0.1:0', '--web-config', this.file];
    this.command = start([...args, ...flags]);
  }

  async started(): Promise<this> {
    [, this.#url] = (await this.command.says(/serves (https?:\S+?),? /)) as unknown as [string, string];
    return this;
  }

  get url(): string {
    return this.#url;
  }

  /** Replaces the file at once, as tools that write secrets do. */
  write(config: object | string): void {
    const next = `${this.file}.next`;
    writeFileSync(next, typeof config === 'string' ? config : stringify(config));
    renameSync(next, this.file);
  }

  /** Asks for a path, with what the test shows unless it is replaced. */
  ask(where: string, shown: Shown = this.#shown): Promise<Asked> {
    return ask(new URL(where, this.#url), shown);
  }

  async page(): Promise<string> {
    return (await this.ask('/metrics')).text;
  }

  async refusals(reason: string): Promise<number> {
    return valueOf(await this.page(), 'nixl_http_refusals_total', `reason="${reason}"`);
  }

  async isStale(): Promise<boolean> {
    return valueOf(await this.page(), 'nixl_http_config_stale') === 1;
  }
}

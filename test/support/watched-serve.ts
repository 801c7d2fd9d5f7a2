/** A serve with all series, and its pages, on which no counter of an agent may be smaller than on those before. */
import { expect } from 'vitest';
import { type RunningCommand, scrape, start, until } from '../cli/command.js';
import { type CountersThatOnlyGrow, type Numbers, shownOn } from './agents-reports.js';

export class WatchedServe {
  readonly #command: RunningCommand;
  readonly #grows: CountersThatOnlyGrow;
  #url: string | undefined;

  constructor(directory: string, grows: CountersThatOnlyGrow) {
    this.#grows = grows;
    this.#command = start(['serve', '--dir', directory, '--port', '0', '--series', 'full', '--dead-ttl', '3600000']);
  }

  async answers(): Promise<this> {
    [this.#url] = await this.#command.says(/http:\S+metrics/);
    return this;
  }

  async page(): Promise<string> {
    return scrape(this.#url!);
  }

  async shown(): Promise<Numbers> {
    const page = await this.page();
    expect(this.#grows.decreasedOn(page)).toEqual([]);
    return shownOn(page);
  }

  async events(): Promise<number> {
    const shown = Object.entries(await this.shown());
    return shown.filter(([key]) => key.includes(' nixl_events_total ')).reduce((sum, [, value]) => sum + value, 0);
  }

  /** Waits until it shows so many more events. */
  async counts(more: number): Promise<void> {
    const before = await this.events();
    await until(async () => (await this.events()) >= before + more);
  }

  kill(): Promise<unknown> {
    return this.#command.stop('SIGKILL');
  }

  async end(): Promise<void> {
    expect(await this.#command.stop('SIGTERM')).toMatchObject({ code: 0 });
  }
}

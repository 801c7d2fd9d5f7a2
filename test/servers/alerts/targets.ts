/** Targets of a Prometheus, which it follows. */
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryDirectory } from '../../cli/command.js';

export class Targets {
  readonly #file = path.join(temporaryDirectory(), 'targets.json');
  readonly #targets = new Map<string, URL>();
  readonly job = {
    job_name: 'nixl-otel',
    file_sd_configs: [{ files: [this.#file], refresh_interval: '1s' }],
    tls_config: { insecure_skip_verify: true },
  };

  constructor() {
    this.#write();
  }

  /** `instance`: the name that the label gets. */
  add(instance: string, url: URL): void {
    this.#targets.set(instance, url);
    this.#write();
  }

  remove(instance: string): void {
    this.#targets.delete(instance);
    this.#write();
  }

  /** Replaces the file at once: Prometheus never reads half of it. */
  #write(): void {
    const groups = [...this.#targets].map(([instance, { host, protocol }]) => ({
      targets: [host],
      labels: { instance, __scheme__: protocol.replace(':', '') },
    }));
    const next = `${this.#file}.next`;
    writeFileSync(next, JSON.stringify(groups));
    renameSync(next, this.#file);
  }
}

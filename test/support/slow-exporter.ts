/** A custom exporter that holds serve up while it starts and while it stops. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';

/** Waits for SIGUSR2 when it is loaded and when it is shut down. It prints where the process listens. */
const SLOW_EXPORTER = `
  const signal = () => new Promise((resolve) => process.once('SIGUSR2', resolve));
  const { port } = process._getActiveHandles().find((handle) => handle.listening).address();
  const loaded = signal();
  console.error('loading, at http://127.0.0.1:' + port + '/');
  await loaded;
  export default {
    export(metrics, done) { done({ code: 0 }) },
    async forceFlush() {},
    shutdown() {
      const ended = signal();
      console.error('shutting down');
      return ended;
    },
  };`;

/** Flags of a serve with this exporter, which is written to a folder. */
export function slowExporterFlags(folder: string): string[] {
  const file = path.join(folder, 'slow.mjs');
  writeFileSync(file, SLOW_EXPORTER);
  return ['--exporter', `prometheus,${file}`, '--port', '0', '--shutdown-timeout', '60000'];
}

/** A run of transfer-source with one agent, in the slices that a report has. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { tallyOptions } from '../../dist/mapping/index.js';
import { openSource } from '../../dist/shm-bridge/index.js';
import { RunSlices } from '../../dist/comparison/run-slices.js';
import { ROOT } from './measure.mjs';

const SAMPLE_MS = 20;
/** The ring holds all events, so that none is lost however late a drain is. */
const WHOLE = ['--buffer-size', '65536', '--staging', '0', '--flush-interval', String(SAMPLE_MS)];

/** Returns what compareRuns() takes. */
export async function slicedRun(directory, flags) {
  const source = openSource({ directories: [directory], tally: tallyOptions(), drainIntervalMs: SAMPLE_MS });
  const slices = new RunSlices();
  const beginMs = Date.now();
  const take = () => slices.take(Date.now(), source.snapshot({ sizeClasses: true }).agents);
  const sampling = setInterval(take, SAMPLE_MS);
  try {
    const program = path.join(ROOT, 'native/build/transfer-source');
    const child = spawn(program, ['--dir', directory, ...WHOLE, ...flags.map(String)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`transfer-source ended with ${code}`);
    await source.drain();
    take();
    return { beginMs, slices: slices.all };
  } finally {
    clearInterval(sampling);
    source.close();
  }
}

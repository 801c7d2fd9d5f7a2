/** A full garbage collection, after which a WeakRef has only what is still in use. */
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

export async function collectGarbage(): Promise<void> {
  await setImmediate(); // a WeakRef holds its object until the end of the task that made or read it
  gc();
}

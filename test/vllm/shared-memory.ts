/** What killed engines leave in shared memory. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

const FOLDER = '/dev/shm';
/** Names that Python and vLLM draw. */
const DRAWN = /^(?:psm_|vllm_dist_)/;

const drawn = (): string[] => readdirSync(FOLDER).filter((name) => DRAWN.test(name));

/** Returns a function that removes what has come since and no process uses. */
export function sharedMemoryRemover(): () => void {
  const before = new Set(drawn());
  return () => {
    const used = readdirSync('/proc').map(mapsOf).join('');
    for (const name of drawn()) {
      const file = path.join(FOLDER, name);
      if (!before.has(name) && !used.includes(file)) rmSync(file, { force: true });
    }
  };
}

function mapsOf(pid: string): string {
  try {
    return /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/maps`, 'utf8') : '';
  } catch {
    return ''; // it has ended, or belongs to another user
  }
}

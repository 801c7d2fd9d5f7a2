/** Made trees of /sys and /proc. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Writes a line into each file, by its path below the folder. */
export function writeTree(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `${text}\n`);
  }
}

/** A command of nixl-otel that runs as a user without rights. Needs root. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { ROOT, RunningCommand } from '../cli/command.js';
import { dist } from './child.js';

export const NOBODY = 65_534;

/** Works like main.js, but becomes another user after the start: that user may not read the native part. */
const AS_NOBODY = `
  const { run } = await import(${JSON.stringify(dist('cli/program.js'))});
  const { addon } = await import(${JSON.stringify(dist('shm-bridge/addon.js'))});
  addon();
  process.setgroups([]);
  process.setgid(${NOBODY});
  process.setuid(${NOBODY});
  process.exit(await run(process.argv.slice(1)));`;

/** True if this process may become that user, which may enter the checkout: commands load modules while they run. */
export const MAY_BE_NOBODY =
  process.getuid!() === 0 && parentsOf(ROOT).every((folder) => statSync(folder).mode & 0o001);

function parentsOf(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...parentsOf(parent)];
}

export function startAsNobody(args: readonly string[]): RunningCommand {
  return new RunningCommand(process.execPath, ['--input-type=module', '-e', AS_NOBODY, '--', ...args]);
}

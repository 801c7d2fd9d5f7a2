/** A command of nixl-otel that runs as a user without rights. Needs root. */
import { RunningCommand } from '../cli/command.js';
import { dist } from './child.js';

export const NOBODY = 65_534;

/** Works like main.js, but becomes another user after all modules are loaded: that user may not read the checkout. */
const AS_NOBODY = `
  const { run } = await import(${JSON.stringify(dist('cli/program.js'))});
  const { addon } = await import(${JSON.stringify(dist('shm-bridge/addon.js'))});
  addon();
  process.setgroups([]);
  process.setgid(${NOBODY});
  process.setuid(${NOBODY});
  process.exit(await run(process.argv.slice(1)));`;

export function startAsNobody(args: readonly string[]): RunningCommand {
  return new RunningCommand(process.execPath, ['--input-type=module', '-e', AS_NOBODY, '--', ...args]);
}

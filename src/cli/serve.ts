/** `nixl-otel serve`: rings in, one Prometheus endpoint out, until a signal. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { DIRECTORY_VARIABLE, type NixlOptions } from '../instrumentation/config.js';
import { PACKAGE_VERSION } from '../instrumentation/version.js';
import { addServingOptions, listOf, notEmpty, type ServingOptions, wholeNumber } from './options.js';
import { note } from './output.js';
import { whileServing } from './serving.js';
import { StopRequest } from './stop.js';

interface ServeOptions extends ServingOptions {
  dir?: string[];
  /** Milliseconds. */
  deadTtl?: number;
  /** Milliseconds. */
  idleTtl?: number;
}

const HELP = `
Agents write rings only when they run with NIXL_TELEMETRY_ENABLE=y and NIXL_TELEMETRY_DIR=DIR, and with no other
exporter chosen (NIXL_TELEMETRY_EXPORTER unset, or BUFFER).

Example:
  nixl-otel serve --dir /dev/shm/nixl --host 0.0.0.0`;

export function addServe(program: Command): void {
  const command = program.command('serve').description('serve the metrics of all agents in a directory to Prometheus');
  command.option(
    '--dir <dir>',
    `directory of rings; may be repeated (env: ${DIRECTORY_VARIABLE})`,
    listOf(notEmpty('a path')),
  );
  addServingOptions(command)
    .option('--dead-ttl <ms>', 'keep the last values of a dead agent this long (default: 30000)', wholeNumber(0))
    .option(
      '--idle-ttl <ms>',
      'drop agents of unknown life after this long without an event (default: never)',
      wholeNumber(1),
    )
    .addHelpText('after', HELP)
    .action((options: ServeOptions) => serve(options, command));
}

async function serve(options: ServeOptions, command: Command): Promise<void> {
  const directories = options.dir ?? fromEnvironment();
  if (directories === undefined) {
    command.error(`error: nothing says where the rings are: give --dir <dir> or set ${DIRECTORY_VARIABLE}`);
  }
  const stop = new StopRequest();
  try {
    await whileServing(options, ringOptions(options, directories), async (_, url) => {
      for (const dir of directories.filter((path) => !existsSync(path)))
        note(`${dir} is not there yet; waiting for it`);
      note(`${PACKAGE_VERSION} serves ${url} from ${directories.join(', ')}`);
      await stop.requested;
    });
  } finally {
    stop.dispose();
  }
}

function fromEnvironment(): string[] | undefined {
  const dir = process.env[DIRECTORY_VARIABLE];
  return dir ? [dir] : undefined;
}

function ringOptions({ deadTtl, idleTtl }: ServeOptions, directories: string[]): NixlOptions {
  return {
    directories,
    ...(deadTtl === undefined ? {} : { deadTtlMs: deadTtl }),
    ...(idleTtl === undefined ? {} : { idleTtlMs: idleTtl }),
  };
}

/** `nixl-otel config`: what a configuration file says, whether it is right, and what is in force. */
import { diag } from '@opentelemetry/api';
import { type Command, InvalidArgumentError } from 'commander';
import { CONFIG_VARIABLE, readSettings } from '../../settings/config-file.js';
import { producerSettings, warnOfUnmatched } from '../../settings/config.js';
import { warnOfNixlSeries } from '../../settings/nixl-series.js';
import { Failure, ExitCode } from '../process/failure.js';
import { print } from '../process/output.js';
import { locateExporters } from '../serve/custom-exporter.js';
import { resolveSettings, SERVE_SECTION } from '../serve/settings.js';
import { unusedSettings } from '../serve/unused-settings.js';
import { effectiveConfig } from './effective.js';
import { configSchema } from './schema.js';

const HELP = `
A value comes from a flag or an option of the program's code, then from the environment, then from the file, then from the
default. Both commands take the file from ${CONFIG_VARIABLE} when none is given.`;

export function addConfig(program: Command): void {
  const config = program.command('config').description('check and show the configuration').addHelpText('after', HELP);
  config.command('check [file]').description('say whether a configuration file is right').action(check);
  config.command('print [file]').description('show what is in force, and where each value comes from').action(printAll);
  config
    .command('schema')
    .description('print the JSON Schema of configuration files')
    .action(() => print(JSON.stringify(configSchema(), undefined, 2)));
}

function check(given: string | undefined): void {
  const file = given ?? process.env[CONFIG_VARIABLE];
  if (!file) throw new Failure(`no file is given, and ${CONFIG_VARIABLE} is not set`, ExitCode.USAGE);
  const written = readSettings(file, SERVE_SECTION);
  // With its modules, and with what the environment says; a place is named, since neither need name one.
  const settings = producerSettings({ directories: '/' }, process.env, written);
  warnOfUnmatched(settings, diag);
  warnOfNixlSeries(settings, diag);
  const resolved = resolveSettings({}, {}, written);
  unusedSettings(resolved, written);
  locateExporters(resolved, written);
  print(`${file} is right`);
}

function printAll(file: string | undefined): void {
  try {
    print(effectiveConfig(file, process.env).trimEnd());
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw new Failure(error.message, ExitCode.USAGE);
    throw error;
  }
}

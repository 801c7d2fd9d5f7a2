/** `nixl-otel config`: checks a configuration file, prints the values in force and the JSON Schema. */
import { diag } from '@opentelemetry/api';
import type { Command } from 'commander';
import type * as Yaml from 'yaml';
import { buildersOf, configSchema, readSettings, type WrittenSettings } from '../../settings/file.js';
import { namedFile, resolve } from '../../settings/resolve.js';
import type { Environment, OptionRows, Resolution } from '../../settings/row.js';
import { ALL_SERVE_ROWS, SERVE_ROWS, SERVE_SECTION } from '../../settings/serve-rows.js';
import { producerSettings, warnOfNoEffect } from '../../settings/settings.js';
import { locateExporters, unusedSettings } from '../../serve/outputs/exporter-settings.js';
import { Failure, ExitCode } from '../../process/failure.js';
import { packageFolder } from '../../ground/package.js';
import { withNixlConfig } from '../../settings/nixl-config.js';
import { requireFrom } from '../../ground/require-from.js';
import { print } from '../../process/output.js';

const HELP = `
The order of precedence is: flags and options in code, environment variables, the file, defaults. Without FILE, check and
print read the file that NIXL_OTEL_CONFIG names.`;

export function defineConfig(config: Command): void {
  config.addHelpText('after', HELP);
  config.command('check [file]').description('check a configuration file').action(check);
  config
    .command('print [file]')
    .description('print the values in force, each with its origin')
    .action((file?: string) => print(effectiveConfig(file, withNixlConfig(process.env)).trimEnd()));
  config
    .command('schema')
    .description('print the JSON Schema of configuration files')
    .action(() => print(JSON.stringify(configSchema(SERVE_SECTION), undefined, 2)));
}

function fileOf(given: string | undefined, environment: Environment): WrittenSettings | undefined {
  return given ? readSettings(given, SERVE_SECTION) : namedFile({ givenBy: 'flag', environment }, SERVE_SECTION);
}

async function check(given: string | undefined): Promise<void> {
  const environment = withNixlConfig(process.env);
  const file = fileOf(given, environment);
  if (file === undefined) throw new Failure('no file is given, and NIXL_OTEL_CONFIG is not set', ExitCode.USAGE);
  // Checks modules and variables as a service does. Sets a directory, because file and variables need not name one.
  warnOfNoEffect(producerSettings({ directories: '/' }, environment, file), diag);
  const resolved = resolve(ALL_SERVE_ROWS, { givenBy: 'flag', environment: {}, file });
  unusedSettings(resolved, file);
  locateExporters(resolved, file);
  await checkWebConfig(resolved);
  print(`${file.path} is valid`);
}

/** @throws NixlTelemetryError CONFIG_INVALID if the web configuration, or a file that it names, cannot be used. */
async function checkWebConfig(resolved: Resolution): Promise<void> {
  const file = resolved.get('webConfig')?.value as string | undefined;
  if (file === undefined) return;
  const { WebGate } = await import('../../serve/access/gate.js');
  new WebGate(file, true).close();
}

/**
 * Returns the values in force as a configuration file of the same meaning, with the origin of each value.
 * @throws NixlTelemetryError
 */
export function effectiveConfig(given: string | undefined, environment: Environment): string {
  const file = fileOf(given, environment);
  if (file !== undefined) buildersOf(file); // refuses modules that cannot be loaded
  return asYaml(resolve(ALL_SERVE_ROWS, { givenBy: 'flag', environment, file }));
}

function asYaml(resolved: Resolution): string {
  const { Document, YAMLMap } = requireFrom(packageFolder('package yaml', 'CONFIG_INVALID'))('yaml') as typeof Yaml;
  const document = new Document({});
  const root = document.contents as unknown as Yaml.YAMLMap;
  const section = new YAMLMap();
  for (const [key, { value, origin }] of resolved) {
    const row = (ALL_SERVE_ROWS as OptionRows)[key]!;
    if (row.inFile === false) continue;
    const name = document.createNode(key);
    name.commentBefore = ` from ${origin}`;
    // Bounds in one line, attributes in several.
    const flow = Array.isArray(value) && value.every((one) => typeof one !== 'object');
    (key in SERVE_ROWS ? section : root).add(document.createPair(name, value, { flow }));
  }
  root.add(document.createPair('serve', section));
  return document.toString({ lineWidth: 120 });
}

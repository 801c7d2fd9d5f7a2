/** `nixl-otel serve`: rings in, any exporters out, until a signal. */
import { type Command, InvalidArgumentError } from 'commander';
import { producerSettings } from '../../settings/config.js';
import type { WrittenSettings } from '../../settings/config-file.js';
import type { NixlOptions } from '../../settings/options.js';
import { PACKAGE_VERSION } from '../../package.js';
import { DEFAULT_NIXL_LABELS, DEFAULT_NIXL_RELEASE } from '../../mapping/index.js';
import { formatInText } from '../process/log-format.js';
import {
  goOnWithoutStdout,
  LOG_LEVELS,
  note,
  settleNoteFormat,
  useNoteFormat,
  useStderrForDiag,
} from '../process/output.js';
import { StopRequest } from '../process/stop.js';
import { locateExporters } from './custom-exporter.js';
import { checkResourceAttributes } from './key-value-pairs.js';
import { LateErrors } from './late-errors.js';
import { switchedOff, switchWarning } from './nixl-environment.js';
import { checkOtlpEnvironment, shownCollector } from './otlp-environment.js';
import { followExports } from './owners.js';
import type { ServeSettings } from './setting-rows.js';
import {
  addSettings,
  directoriesBeforeFile,
  readConfig,
  type Resolved,
  type ResolvedSettings,
  resolveSettings,
  valuesOf,
} from './settings.js';
import { listens, unusedSettings } from './unused-settings.js';
import { unusedVariables } from './unused-variables.js';

interface ServeFlags extends Partial<ServeSettings> {
  logLevel?: string;
}

const HELP = `
A flag goes before the variables beside it, and those count from left to right. OTEL_EXPORTER_OTLP_* (headers, timeout,
compression, certificate), OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES and OTEL_SDK_DISABLED work as OpenTelemetry says,
NIXL_TELEMETRY_ENABLE as NIXL does, but that unset means on.

Agents write rings only when they run with NIXL_TELEMETRY_ENABLE=y and NIXL_TELEMETRY_DIR=DIR, and with no other
exporter chosen (NIXL_TELEMETRY_EXPORTER unset, or BUFFER).

Examples:
  nixl-otel serve --dir /dev/shm/nixl --host 0.0.0.0
  nixl-otel serve --dir /dev/shm/nixl --exporter prometheus,otlp --otlp-endpoint http://collector:4318`;

export function addServe(program: Command): void {
  const command = program.command('serve').description('export the metrics of all agents in a directory');
  addSettings(command)
    .option(
      '--log-level <level>',
      'error, warn, info, debug, verbose or none (env: OTEL_LOG_LEVEL; default: info)',
      logLevel,
    )
    .addHelpText('after', HELP)
    .action((flags: ServeFlags) => serve(flags, command));
}

function logLevel(text: string): string {
  if (LOG_LEVELS.includes(text.toLowerCase())) return text;
  throw new InvalidArgumentError(`Allowed: ${LOG_LEVELS.join(', ')}.`);
}

async function serve({ logLevel, ...flags }: ServeFlags, command: Command): Promise<void> {
  if (logLevel !== undefined) useStderrForDiag(logLevel);
  const lateErrors = LateErrors.watch(); // before any custom module is loaded
  const { settings, resolved, file, off, warnings } = settingsOrUsage(flags, command);
  useNoteFormat(settings.logFormat);
  for (const warning of warnings) note(warning, 'warning');
  if (off !== undefined) return note(off);
  goOnWithoutStdout();
  followExports();
  const { dir = [] } = settings;
  if (dir.length === 0 && file === undefined) {
    command.error('error: nothing says where the rings are: give --dir <dir> or set NIXL_TELEMETRY_DIR');
  }
  const rings = producerSettings(ringOptions(settings, resolved), process.env, file);
  const { whileServing } = await import('./serving.js');
  let stop: StopRequest | undefined;
  try {
    await whileServing(settings, rings, listens(resolved), async ({ url }) => {
      // Not sooner: until here nothing was taken out of a ring, and a signal may well end a module that hangs.
      stop = new StopRequest();
      note(startLine(settings, url));
      await Promise.race([stop.requested, lateErrors.unknown]);
    });
  } finally {
    stop?.dispose();
  }
  lateErrors.check();
}

function ringOptions(settings: ServeSettings, resolved: ResolvedSettings): NixlOptions {
  const { naming, drainInterval, deadTtl, idleTtl, owner, nixlRelease, nixlLabels } = settings;
  const directories = directoriesBeforeFile(resolved);
  return {
    naming,
    nixlRelease,
    nixlLabels,
    drainIntervalMs: drainInterval,
    deadTtlMs: deadTtl,
    ...(directories === undefined ? {} : { directories }),
    ...(idleTtl === undefined ? {} : { idleTtlMs: idleTtl }),
    ...(owner === undefined ? {} : { owners: owner }),
  };
}

interface Asked {
  readonly settings: ServeSettings;
  readonly resolved: ResolvedSettings;
  readonly file: WrittenSettings | undefined;
  /** Why there is nothing to do. */
  readonly off?: string;
  readonly warnings: readonly string[];
}

function settingsOrUsage(flags: Partial<ServeSettings>, command: Command): Asked {
  try {
    const file = readConfig(flags, process.env, (text) => settleNoteFormat(() => formatInText(text) ?? 'text'));
    const resolved = resolveSettings(flags, process.env, file);
    const settings = valuesOf(resolved);
    const off = switchedOff(process.env) ?? nothingToExport(resolved.get('exporter')!);
    if (off !== undefined) return { settings, resolved, file, off, warnings: [] };
    if (settings.exporter.includes('otlp')) checkOtlpEnvironment(process.env, settings.otlpProtocol);
    checkResourceAttributes('OTEL_RESOURCE_ATTRIBUTES', process.env['OTEL_RESOURCE_ATTRIBUTES'] ?? '');
    locateExporters(resolved, file);
    return { settings, resolved, file, warnings: warningsOf(settings, resolved, file) };
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    return command.error(`error: ${error.message}`);
  }
}

function warningsOf(
  settings: ServeSettings,
  resolved: ResolvedSettings,
  file: WrittenSettings | undefined,
): readonly string[] {
  const unused = new Set([...unusedSettings(resolved, file), ...unusedVariables(settings, process.env)]);
  const disabled = switchWarning(process.env);
  return [
    ...(disabled === undefined ? [] : [disabled]),
    ...(unused.size === 0 ? [] : [`set, but not used by serve: ${[...unused].join(', ')}`]),
  ];
}

function nothingToExport({ value, origin }: Resolved): string | undefined {
  if (!(value as readonly string[]).includes('none')) return undefined;
  const setting = { flag: '--exporter', file: 'serve.exporter of the configuration file' }[origin];
  const said = setting === undefined ? `${origin} is ${process.env[origin]}` : `${setting} is none`;
  return `${said}: nothing is read or exported`;
}

function startLine(settings: ServeSettings, url: string | undefined): string {
  const { dir, drainInterval, deadTtl, page, otlpEndpoint, otlpProtocol } = settings;
  const collector = (): string => shownCollector(otlpEndpoint, otlpProtocol, process.env);
  const exporter = settings.exporter.map((name) => (name === 'otlp' ? `otlp to ${collector()}` : name));
  const what = url === undefined ? 'exports' : `serves ${url}`;
  const look = url !== undefined && page === 'on' ? 'live page at /; ' : '';
  const how = `${look}exporters ${exporter.join(', ')}; naming ${namingIn(settings)}; drained every ${drainInterval} ms; dead agents stay ${deadTtl} ms`;
  return `${PACKAGE_VERSION} ${what} from ${dir?.join(', ') ?? 'the globs of its configuration'} (${how})`;
}

function namingIn({ naming, nixlRelease, nixlLabels }: ServeSettings): string {
  const unusual = [
    ...(nixlRelease === DEFAULT_NIXL_RELEASE ? [] : [`of NIXL ${nixlRelease}`]),
    ...(nixlLabels === DEFAULT_NIXL_LABELS ? [] : [`with the labels of ${nixlLabels}`]),
  ];
  return naming === 'otel' ? naming : [naming, ...unusual].join(' ');
}

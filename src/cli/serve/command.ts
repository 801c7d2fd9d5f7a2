/** `nixl-otel serve`: drains rings and exports their metrics through any exporters, until a signal. */
import { intervalText } from '../../ground/figures/clock.js';
import { type Command, InvalidArgumentError } from 'commander';
import { PACKAGE_VERSION } from '../../ground/package.js';
import { namedFile, resolve } from '../../settings/resolve.js';
import { isDefault, type Resolved } from '../../settings/row.js';
import {
  ALL_SERVE_ROWS,
  givenFlags,
  SERVE_SECTION,
  serveSettings,
  type ServeSettings,
} from '../../settings/serve-rows.js';
import { settingsFrom, withSource } from '../../settings/settings.js';
import { listens, locateExporters, unusedSettings } from '../../serve/outputs/exporter-settings.js';
import { addFlags } from '../flags.js';
import { logDiagToStderr } from '../../process/diag.js';
import { formatInText } from '../../process/log-format.js';
import { ensureNoteFormat, makeStdoutOptional, note, setNoteFormat } from '../../process/output.js';
import { StopRequest } from '../../process/stop.js';
import { reportToSystemd } from '../../process/systemd.js';
import { checkResourceAttributes } from '../../settings/key-value-pairs.js';
import { watchLateErrors } from '../../serve/outputs/late-errors.js';
import { checkOtlpEnvironment, clarifyOtlpEnvironment, shownCollector } from '../../settings/otlp-environment.js';
import { followExports } from '../../serve/outputs/owners.js';
import { withNixlConfig } from '../../settings/nixl-config.js';
import type { Serving } from '../../serve/serving.js';
import { refuseConfigFile, switchedOff, switchWarnings, unusedVariables } from '../../settings/serve-variables.js';

const HELP = `
A flag overrides the variables in its parentheses. Of these variables, the first one that is set counts.
OTEL_EXPORTER_OTLP_* (headers, timeout, compression, certificate), OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES and
OTEL_SDK_DISABLED have the meaning that OpenTelemetry specifies. NIXL_TELEMETRY_ENABLE takes NIXL's values, but unset
means on.

Agents write rings only if they run with NIXL_TELEMETRY_ENABLE=y and NIXL_TELEMETRY_DIR=DIR, and without another
exporter (NIXL_TELEMETRY_EXPORTER unset, or BUFFER).

Examples:
  nixl-otel serve --dir /dev/shm/nixl --host 0.0.0.0
  nixl-otel serve --dir /dev/shm/nixl --exporter prometheus,otlp --otlp-endpoint http://collector:4318`;

export function defineServe(command: Command): void {
  addFlags(command, ALL_SERVE_ROWS)
    .addHelpText('after', HELP)
    .action((flags: Partial<ServeSettings>) => serve(flags, command));
}

async function serve(flags: Partial<ServeSettings>, command: Command): Promise<void> {
  if (flags.logLevel !== undefined) logDiagToStderr(flags.logLevel);
  const lateErrors = watchLateErrors(); // before any custom module is loaded
  const { settings, resolved, file, off, warnings } = start(flags, command);
  setNoteFormat(settings.logFormat);
  for (const warning of warnings) note(warning, 'warning');
  if (off !== undefined) return note(off);
  makeStdoutOptional();
  followExports();
  if (settings.dir === undefined && file === undefined) {
    command.error('error: no directory of rings: give --dir <dir> or set NIXL_TELEMETRY_DIR');
  }
  const rings = withSource(settingsFrom(resolved, file));
  const { whileServing } = await import('../../serve/serving.js');
  const { publishPage } = await import('../../page/routes.js');
  let stop: StopRequest | undefined;
  // From the first drain on, a signal must not end serve before its last export. Before, it must be able to end a module that
  // hangs.
  const handleSignals = (): void => {
    stop = new StopRequest();
  };
  const work = async ({ urls }: Serving): Promise<void> => {
    const line = startLine(settings, urls);
    note(line);
    reportToSystemd(line);
    await Promise.race([stop!.requested, lateErrors.unknown]);
  };
  try {
    await whileServing(settings, rings, listens(resolved), publishPage, work, handleSignals);
  } finally {
    stop?.dispose();
  }
  lateErrors.check();
}

/** Checks all settings. `off`: the reason why there is nothing to do. */
function start(flags: Partial<ServeSettings>, command: Command) {
  const environment = withNixlConfig(process.env);
  const layers = { given: givenFlags(flags), givenBy: 'flag', environment } as const;
  const file = namedFile(layers, SERVE_SECTION, (text) => ensureNoteFormat(() => formatInText(text) ?? 'text'));
  const resolved = resolve(ALL_SERVE_ROWS, { ...layers, file });
  const settings = serveSettings(resolved);
  const off = switchedOff(process.env) ?? nothingToExport(resolved.get('exporter')!);
  if (off !== undefined) return { settings, resolved, file, off, warnings: [] };
  refuseConfigFile(process.env);
  clarifyOtlpEnvironment(process.env);
  if (settings.exporter.includes('otlp')) checkOtlpEnvironment(process.env, settings.otlpProtocol);
  checkResourceAttributes('OTEL_RESOURCE_ATTRIBUTES', process.env['OTEL_RESOURCE_ATTRIBUTES'] ?? '');
  locateExporters(resolved, file);
  try {
    const unused = new Set([...unusedSettings(resolved, file), ...unusedVariables(settings, process.env)]);
    const unusedText = unused.size === 0 ? [] : [`set, but not used by serve: ${[...unused].join(', ')}`];
    return { settings, resolved, file, warnings: [...switchWarnings(process.env), ...unusedText] };
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    return command.error(`error: ${error.message}`);
  }
}

function nothingToExport({ value, origin }: Resolved): string | undefined {
  if (!(value as readonly string[]).includes('none')) return undefined;
  const setting = { flag: '--exporter', file: 'serve.exporter of the configuration file' }[origin];
  const said = setting === undefined ? `${origin} is ${process.env[origin] ?? 'none'}` : `${setting} is none`;
  return `${said}: nothing is read or exported`;
}

function startLine(settings: ServeSettings, urls: readonly string[]): string {
  const { dir, drainInterval, deadTtl, page, otlpEndpoint, otlpProtocol } = settings;
  const collector = (): string => shownCollector(otlpEndpoint, otlpProtocol, process.env);
  const exporter = settings.exporter.map((name) => (name === 'otlp' ? `otlp to ${collector()}` : name));
  const what = urls.length === 0 ? 'exports' : `serves ${urls.join(', ')}`;
  const look = urls.length > 0 && page === 'on' ? 'live page at /; ' : '';
  const how = `${look}exporters ${exporter.join(', ')}; naming ${namingIn(settings)}; drained every ${intervalText(drainInterval)}; dead agents stay ${intervalText(deadTtl)}`;
  return `${PACKAGE_VERSION} ${what} from ${dir?.join(', ') ?? 'the globs of its configuration'} (${how})`;
}

function namingIn({ naming, nixlRelease, nixlLabels }: ServeSettings): string {
  const { nixlRelease: releases, nixlLabels: labels } = ALL_SERVE_ROWS;
  const unusual = [
    ...(isDefault(releases, nixlRelease) ? [] : [`of NIXL ${nixlRelease}`]),
    ...(isDefault(labels, nixlLabels) ? [] : [`with the labels of ${nixlLabels}`]),
  ];
  return naming === 'otel' ? naming : [naming, ...unusual].join(' ');
}

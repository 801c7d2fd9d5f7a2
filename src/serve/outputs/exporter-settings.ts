/** Checks of the settings of exporters: modules that are missing, and settings without effect. For serve and config. */
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { InvalidArgumentError } from 'commander';
import { invalid } from '../../ground/arguments.js';
import { attempt, reasonOf } from '../../ground/errors.js';
import { requireFrom } from '../../ground/require-from.js';
import type { WrittenSettings } from '../../settings/file.js';
import { flagName, isDefault, type Need, type OptionRow, type Resolution } from '../../settings/row.js';
import type { ListenAddress } from '../../settings/listen-address.js';
import { BUILT_IN_EXPORTERS, listenAddresses, SERVE_ROWS, serveSettings } from '../../settings/serve-rows.js';
import { MODULE_PATH } from '../../settings/user-module.js';
import { isLoopback } from '../http/host-check.js';
import { Failure } from '../../process/failure.js';

/**
 * Returns the URL of an exporter's module. A name with the form of a path is a path. Any other name is a file in the folder
 * of exporters or, if there is none, a package, resolved from the working directory and from this package.
 * @throws Failure
 */
export function locateExporter(name: string, folder: string | undefined): string {
  if (folder !== undefined && !existsSync(folder))
    throw new Failure(`the folder of exporters does not exist: ${folder}`);
  const isPath = MODULE_PATH.test(name);
  const inFolder = folder === undefined ? [] : ['mjs', 'js', 'cjs'].map((end) => path.join(folder, `${name}.${end}`));
  const files = (isPath ? [name] : inFolder).map((file) => path.resolve(file));
  const file = files.find((one) => existsSync(one));
  if (file !== undefined) return pathToFileURL(file).href;
  for (const from of isPath ? [] : [path.join(process.cwd(), 'noop.js'), import.meta.url]) {
    const found = attempt(() => requireFrom(from).resolve(name));
    if (found !== undefined) return pathToFileURL(found).href;
  }
  const searched = [...files, ...(isPath ? [] : [`the package ${name}`])].join(', ');
  throw new Failure(
    `there is no exporter ${name}; built in are ${BUILT_IN_EXPORTERS.join(', ')}; searched ${searched}`,
  );
}

/**
 * Checks that the modules of a configuration file's exporters exist, before any of them is loaded.
 * @throws Failure with the place in the file.
 */
export function locateExporters(resolved: Resolution, file: WrittenSettings | undefined): void {
  const { origin, value } = resolved.get('exporter')!;
  if (origin !== 'file') return;
  for (const [i, name] of (value as readonly string[]).entries()) {
    if (!isCustom(name)) continue;
    try {
      locateExporter(name, resolved.get('exporterDir')?.value as string | undefined);
    } catch (error) {
      throw new Failure(`${file!.where(['serve', 'exporter', i])}: ${reasonOf(error)}`);
    }
  }
}

interface Context {
  readonly exporters: readonly string[];
  /** A custom exporter gets all settings, and may use any. */
  readonly hasCustom: boolean;
  readonly listens: boolean;
  readonly addresses: readonly ListenAddress[];
  readonly hasWebConfig: boolean;
}

interface Requirement {
  /** Completes `needs …`. */
  readonly what: string;
  readonly isMet: (context: Context) => boolean;
}

const requirement = (what: string, isMet: Requirement['isMet']): Requirement => ({ what, isMet });

const pushesTo = (what: string, ...names: readonly string[]): Requirement =>
  requirement(what, ({ exporters, hasCustom }) => hasCustom || names.some((name) => exporters.includes(name)));

const listensOn = (what: string, isOn: Requirement['isMet']): Requirement =>
  requirement(what, (context) => context.listens && isOn(context));

const NEEDS: Readonly<Record<Need, Requirement>> = {
  console: pushesTo('the exporter console', 'console'),
  histograms: pushesTo('the exporter otlp or console', 'otlp', 'console'),
  otlp: pushesTo('the exporter otlp', 'otlp'),
  push: requirement('an exporter that pushes', ({ exporters }) => exporters.some((name) => name !== 'prometheus')),
  search: requirement('an exporter NAME that is neither built in nor a path', ({ exporters }) =>
    exporters.some((name) => isCustom(name) && !MODULE_PATH.test(name)),
  ),
  server: listensOn('the HTTP server: the exporter prometheus, or --host, --port or --listen', () => true),
  loopback: listensOn('the HTTP server on a loopback address', ({ addresses }) => addresses.some(mayBeLoopback)),
  port: listensOn('the HTTP server on a port other than 0', ({ addresses }) =>
    addresses.every((one) => !('port' in one && one.port === 0)),
  ),
  socket: listensOn('an address unix:/path in --listen', ({ addresses }) =>
    addresses.some((one) => 'socketPath' in one),
  ),
  webConfig: listensOn('--web-config', ({ hasWebConfig }) => hasWebConfig),
};

/** A name may be that of a loopback address. */
function mayBeLoopback(address: ListenAddress): boolean {
  return 'host' in address && address.host !== undefined && (isIP(address.host) === 0 || isLoopback(address.host));
}

/** Without the exporter prometheus, serve has an HTTP server only if a flag or the file gives its address. */
export function listens(resolved: Resolution): boolean {
  const isAddressGiven = ['port', 'host', 'listen'].some((key) =>
    ['flag', 'file'].includes(resolved.get(key)?.origin ?? 'default'),
  );
  return exportersIn(resolved).includes('prometheus') || isAddressGiven;
}

/**
 * Returns settings without effect that need not be mistakes, each with its need: variables, which may be meant for another
 * program, and keys of the file if a flag or a variable replaces the exporters of the file.
 * @throws InvalidArgumentError for a flag; NixlTelemetryError CONFIG_INVALID with its place for a key of the file.
 */
export function unusedSettings(resolved: Resolution, file: WrittenSettings | undefined): string[] {
  const exporters = exportersIn(resolved);
  if (exporters.includes('none')) return [];
  const context = {
    exporters,
    hasCustom: exporters.some(isCustom),
    listens: listens(resolved),
    addresses: listenAddresses(serveSettings(resolved)),
    hasWebConfig: resolved.has('webConfig'),
  };
  const areFromFile = ['file', 'default'].includes(resolved.get('exporter')!.origin);
  const unused = new Map<string, string>();
  for (const [key, row] of Object.entries<OptionRow>(SERVE_ROWS)) {
    const { origin, value } = resolved.get(key) ?? { origin: 'default' };
    if (row.needs === undefined || origin === 'default' || value === 'off') continue;
    const { isMet, what } = isReplaced(key, origin, resolved) ? WITHOUT_LISTEN : NEEDS[row.needs];
    if (isMet(context)) continue;
    const needs = `needs ${what}; the exporters are ${exporters.join(', ')}`;
    if (origin === 'flag') throw new InvalidArgumentError(`${flagName(row)} ${needs}`);
    if (origin === 'file' && isDefault(row, value)) continue; // as `config print` writes it
    if (origin === 'file' && areFromFile) throw invalid(`${file!.where(['serve', key])} ${needs}`);
    unused.set(origin === 'file' ? `serve.${key} of the configuration file` : origin, what);
  }
  return [...unused].map(([name, what]) => `${name} (needs ${what})`);
}

const WITHOUT_LISTEN = requirement('an HTTP server without --listen, which has host and port', () => false);

/** Returns whether a list of addresses takes the place of this part of an address. A later layer gives way to an earlier one. */
function isReplaced(key: string, origin: string, resolved: Resolution): boolean {
  const listen = resolved.get('listen');
  return listen !== undefined && (key === 'host' || key === 'port') && (origin !== 'file' || listen.origin === 'file');
}

function exportersIn(resolved: Resolution): readonly string[] {
  return resolved.get('exporter')!.value as readonly string[];
}

function isCustom(name: string): boolean {
  return name !== 'none' && !BUILT_IN_EXPORTERS.includes(name);
}

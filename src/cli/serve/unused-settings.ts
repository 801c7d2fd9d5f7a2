/** Settings that do nothing beside the others: a file without the exporter that writes it, an interval with nothing to push. */
import { InvalidArgumentError } from 'commander';
import { invalid } from '../../arguments.js';
import { MODULE_PATH } from '../../instrumentation/builders/user-module.js';
import type { WrittenSettings } from '../../settings/config-file.js';
import { BUILT_IN_EXPORTERS } from './custom-exporter.js';
import type { ServeSettings } from './setting-rows.js';
import { type ResolvedSettings, rowOf } from './settings.js';

interface Context {
  readonly exporters: readonly string[];
  /** An exporter of the user's gets all settings, and may use any. */
  readonly hasOwn: boolean;
  readonly listens: boolean;
}

interface Need {
  readonly keys: readonly (keyof ServeSettings)[];
  readonly isMet: (context: Context) => boolean;
  readonly what: string;
}

const NEEDS: readonly Need[] = [
  {
    keys: ['consoleFile'],
    isMet: ({ exporters, hasOwn }) => hasOwn || exporters.includes('console'),
    what: 'the exporter console',
  },
  {
    keys: ['otlpEndpoint', 'otlpProtocol', 'temporality'],
    isMet: ({ exporters, hasOwn }) => hasOwn || exporters.includes('otlp'),
    what: 'the exporter otlp',
  },
  {
    keys: ['exportInterval', 'exportTimeout'],
    isMet: ({ exporters }) => exporters.some((name) => name !== 'prometheus'),
    what: 'an exporter that pushes',
  },
  {
    keys: ['exporterDir'],
    isMet: ({ exporters }) => exporters.some((name) => isOwn(name) && !MODULE_PATH.test(name)),
    what: 'an exporter NAME that is neither built in nor a path',
  },
  {
    keys: ['host', 'port', 'page'],
    isMet: ({ listens }) => listens,
    what: 'something to serve: the exporter prometheus, or --host or --port',
  },
];

/** Without the exporter that is asked there is nothing to serve but health, which is served when an address is given. */
export function listens(resolved: ResolvedSettings): boolean {
  const isAddressGiven = [resolved.get('port'), resolved.get('host')].some(
    (one) => one?.origin === 'flag' || one?.origin === 'file',
  );
  return exportersIn(resolved).includes('prometheus') || isAddressGiven;
}

/**
 * Returns settings without effect that need not be mistakes, each with what it needs: variables, which may be meant for another
 * program, and keys of the file where a flag or a variable replaces the exporters of the file.
 * @throws InvalidArgumentError for a flag; NixlTelemetryError CONFIG_INVALID with its place for a key of the file.
 */
export function unusedSettings(resolved: ResolvedSettings, file: WrittenSettings | undefined): string[] {
  const exporters = exportersIn(resolved);
  if (exporters.includes('none')) return [];
  const context = { exporters, hasOwn: exporters.some(isOwn), listens: listens(resolved) };
  const areFromFile = ['file', 'default'].includes(resolved.get('exporter')!.origin);
  const unused = new Map<string, string>();
  for (const { keys, isMet, what } of NEEDS) {
    if (isMet(context)) continue;
    for (const key of keys) {
      const { origin, value } = resolved.get(key) ?? { origin: 'default' };
      if (origin === 'default' || value === 'off') continue;
      const needs = `needs ${what}; the exporters are ${exporters.join(', ')}`;
      if (origin === 'flag') throw new InvalidArgumentError(`${rowOf(key).flag.replace(/ .*/, '')} ${needs}`);
      if (origin === 'file' && value === rowOf(key).default) continue; // as `config print` writes it
      if (origin === 'file' && areFromFile) throw invalid(`${file!.where(['serve', key])} ${needs}`);
      unused.set(origin === 'file' ? `serve.${key} of the configuration file` : origin, what);
    }
  }
  return [...unused].map(([name, what]) => `${name} (needs ${what})`);
}

function exportersIn(resolved: ResolvedSettings): readonly string[] {
  return resolved.get('exporter')!.value as readonly string[];
}

function isOwn(name: string): boolean {
  return name !== 'none' && !BUILT_IN_EXPORTERS.includes(name);
}

/** What is in force, as a configuration file that says the same, each value with where it comes from. */
import { createRequire } from 'node:module';
import os from 'node:os';
import type * as Yaml from 'yaml';
import { CONFIG_VARIABLE, FILE_OPTIONS, optionsOf, readSettings } from '../../settings/config-file.js';
import { DEFAULT_RANK_VARIABLE, DEFAULT_SERIES_LIMIT } from '../../settings/config.js';
import { DEFAULT_DURATION_BUDGET_MS } from '../../instrumentation/instruments/sampling.js';
import { type Environment, optionsFromEnvironment } from '../../settings/environment.js';
import { DEFAULT_BOUNDS, DEFAULT_BUILDERS } from '../../mapping/index.js';
import { packageFolder } from '../../package.js';
import { SETTINGS } from '../serve/setting-rows.js';
import { directoriesBeforeFile, type Resolved, resolveSettings, SERVE_SECTION } from '../serve/settings.js';

const DEFAULTS: Readonly<Record<string, unknown>> = {
  ...DEFAULT_BOUNDS,
  hostname: os.hostname(),
  builders: [...DEFAULT_BUILDERS, 'records'],
  rankVariable: DEFAULT_RANK_VARIABLE,
  seriesLimit: DEFAULT_SERIES_LIMIT,
  durationBudgetMs: DEFAULT_DURATION_BUDGET_MS,
};

/** @throws NixlTelemetryError, InvalidArgumentError */
export function effectiveConfig(given: string | undefined, environment: Environment): string {
  const path = given ?? environment[CONFIG_VARIABLE];
  const file = path ? readSettings(path, SERVE_SECTION) : undefined;
  if (file !== undefined) optionsOf(file); // what cannot be loaded is not in force
  const settings = resolveSettings({}, environment, file);
  const variables: Readonly<Record<string, unknown>> = { ...optionsFromEnvironment(environment) };
  const options = new Map<string, Resolved>();
  for (const option of FILE_OPTIONS) {
    const row = SETTINGS.find((one) => one.option === option);
    if (option === 'globs' && directoriesBeforeFile(settings) !== undefined) continue;
    const resolved = row === undefined ? ofOption(option, variables, file?.written ?? {}) : settings.get(row.key);
    if (resolved !== undefined) options.set(option, resolved);
  }
  const serve = new Map<string, Resolved>();
  for (const { key, option } of SETTINGS) {
    const resolved = option === undefined && key !== 'config' ? settings.get(key) : undefined;
    if (resolved !== undefined) serve.set(key, resolved);
  }
  return asYaml(options, serve);
}

function ofOption(
  option: string,
  variables: Readonly<Record<string, unknown>>,
  written: Readonly<Record<string, unknown>>,
): Resolved | undefined {
  if (variables[option] !== undefined) return { value: variables[option], origin: 'environment' };
  if (written[option] !== undefined) return { value: written[option], origin: 'file' };
  return DEFAULTS[option] === undefined ? undefined : { value: DEFAULTS[option], origin: 'default' };
}

function asYaml(options: ReadonlyMap<string, Resolved>, serve: ReadonlyMap<string, Resolved>): string {
  const { Document, YAMLMap } = createRequire(packageFolder('package yaml', 'CONFIG_INVALID'))('yaml') as typeof Yaml;
  const document = new Document({});
  const put = (map: Yaml.YAMLMap, [key, { value, origin }]: [string, Resolved]): void => {
    const name = document.createNode(key);
    name.commentBefore = ` from ${origin}`;
    // Bounds in one line, attributes in several.
    const flow = Array.isArray(value) && value.every((one) => typeof one !== 'object');
    map.add(document.createPair(name, value, { flow }));
  };
  const root = document.contents as unknown as Yaml.YAMLMap;
  for (const entry of options) put(root, entry);
  const section = new YAMLMap();
  for (const entry of serve) put(section, entry);
  root.add(document.createPair('serve', section));
  return document.toString({ lineWidth: 120 });
}

/** Variables of NIXL for the agents of a run: each of them writes a ring. */
import { existsSync, openSync, constants } from 'node:fs';
import { attempt } from '../../ground/errors.js';
import { type NixlConfig, nixlConfigPlaces, problemOf, readNixlConfig } from '../../settings/nixl-config.js';
import { nixlExporter, onOrOff } from '../../settings/nixl-variables.js';
import type { Environment } from '../../settings/row.js';

export interface AgentEnvironment {
  readonly variables: Environment;
  /** One for each setting that is overruled. */
  readonly notes: readonly string[];
}

export function agentEnvironment(
  given: Environment,
  { directory, slots, flushIntervalMs }: { directory: string; slots: number; flushIntervalMs: number },
): AgentEnvironment {
  const notes: string[] = [];
  const { config, file } = nixlFile(given, notes);
  const set: Record<string, string> = {
    NIXL_TELEMETRY_ENABLE: 'y',
    NIXL_TELEMETRY_DIR: directory,
    NIXL_TELEMETRY_BUFFER_SIZE: String(slots),
    NIXL_TELEMETRY_RUN_INTERVAL: String(flushIntervalMs),
  };
  const variables: Record<string, string | undefined> = { ...given, ...set };
  const overrule = (name: string, instead: string, inFile: string): void => {
    if (given[name]) notes.push(`${name}=${given[name]} is overruled: ${instead}`);
    else if (config[name] !== undefined) notes.push(`${name} = ${config[name]} of ${file} is overruled: ${instead}`);
    delete variables[name];
    if (config[name] !== undefined) variables[name] = inFile;
  };
  for (const [name, value] of Object.entries(set)) {
    const before = given[name] || config[name];
    if (before !== undefined && !isAlike(name, before, value)) {
      const place = given[name] ? `${name}=${before}` : `${name} = ${before} of ${file}`;
      notes.push(`${place} is overruled: agents of a run have ${value}`);
    }
  }
  const exporter = nixlExporter({ ...config, ...given });
  if (exporter !== undefined && exporter.kind !== 'buffer') {
    overrule('NIXL_TELEMETRY_EXPORTER', 'agents of a run write rings', 'BUFFER');
  }
  overrule('NIXL_TELEMETRY_ENABLED_METRICS', 'agents of a run write all events', '*');
  return { variables, notes };
}

/** NIXL's file stays as it is: variables overrule it. */
function nixlFile(given: Environment, notes: string[]): { config: NixlConfig; file: string } {
  const { paths, isNamed } = nixlConfigPlaces(given);
  const file = isNamed ? paths[0]! : paths.find((one) => existsSync(one));
  if (!file) return { config: {}, file: '' };
  try {
    return { config: readNixlConfig(openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)), file };
  } catch (error) {
    notes.push(`${file} cannot be used as NIXL's configuration, and agents may not start with it: ${problemOf(error)}`);
    return { config: {}, file };
  }
}

function isAlike(name: string, before: string, value: string): boolean {
  if (name !== 'NIXL_TELEMETRY_ENABLE') return before === value;
  return attempt(() => onOrOff(before)) === true;
}

/** Format of notes before the settings are known: usage errors and mistakes in the configuration file are notes, too. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { OPTION_ROWS } from '../settings/option-rows.js';
import type { Environment } from '../settings/row.js';
import { LOG_FORMATS, type LogFormat } from '../settings/log-words.js';
import { readYaml } from '../settings/yaml-text.js';
import { attempt } from '../ground/errors.js';

/** Returns the format of the flag; undefined if the flag is absent or wrong. */
export function formatInFlags(args: readonly string[]): LogFormat | undefined {
  return formatOf(flagIn(args, 'log-format'));
}

/** Returns `serve.logFormat` of a configuration file, even if the text has a mistake elsewhere. */
export function formatInText(text: string): LogFormat | undefined {
  return formatOf(readYaml(text).peek(['serve', 'logFormat']));
}

/** Reads the file of the flag or the variable. Only for the end of a command: a pipe is empty afterwards. */
export function formatInNamedFile(args: readonly string[], environment: Environment): LogFormat | undefined {
  const file = flagIn(args, 'config') ?? environment[OPTION_ROWS.configFile.variables[0].name];
  if (typeof file !== 'string' || file === '') return undefined;
  return attempt(() => formatInText(readFileSync(file, 'utf8')));
}

function formatOf(value: unknown): LogFormat | undefined {
  return LOG_FORMATS.find((format) => format === value);
}

/** Returns the value of the last such flag. */
function flagIn(args: readonly string[], flag: 'log-format' | 'config'): unknown {
  const option = { type: 'string' } as const;
  const { values } = parseArgs({ args: [...args], strict: false, options: { 'log-format': option, config: option } });
  return values[flag];
}

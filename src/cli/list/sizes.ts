/** `nixl-otel list --sizes`: transfers and their times by size, of a running serve or from the state files beside the rings. */
import type { Command } from 'commander';
import { printableJson } from '../../ground/one-line.js';
import { ExitCode, Failure } from '../../process/failure.js';
import { print } from '../../process/output.js';
import { clientAccess, type ClientOptions } from '../../view/client/client-options.js';
import { nameFilter } from '../../view/rings/name-filter.js';
import { numericKey } from '../../view/rings/ring-files.js';
import { DIRECTORY_VARIABLE, directoriesOf } from '../directory-option.js';
import { serverAddresses } from '../url-option.js';
import { type ListedSizes, sizeObjects, sizeTable } from './size-lines.js';

const DEFAULT_COLUMNS = 80;

export interface ListSizesOptions extends ClientOptions {
  dir?: string[];
  url?: string[];
  json?: boolean;
  filter?: string;
  watch?: boolean;
}

export async function listSizes(options: ListSizesOptions, command: Command): Promise<void> {
  const { dir, url, json, filter, watch } = options;
  const refuse = (reason: string): never => command.error(`error: ${reason}`);
  if (watch === true) refuse('--sizes and --watch exclude each other: top shows time by size that changes, with key b');
  if (command.getOptionValueSource('sort') === 'cli') {
    refuse('--sizes and --sort exclude each other: sizes are in the order of agents, directions and classes');
  }
  if (dir !== undefined && url !== undefined) {
    refuse('--dir and --url exclude each other: with --url, serve has the directories');
  }
  const addresses = url === undefined ? [] : serverAddresses(url, command);
  const access = clientAccess(options, addresses, command);
  const directories = url === undefined ? directoriesOf(dir) : [];
  if (directories === undefined) {
    return refuse(`no directory and no address: give --dir <dir> or --url <url>, or set ${DIRECTORY_VARIABLE}`);
  }
  const place =
    url === undefined ? `in ${directories.join(', ')}` : `at ${addresses.map(({ name }) => name).join(', ')}`;
  const found =
    url === undefined
      ? (await import('./kept-sizes.js')).keptSizes(directories)
      : await (await import('./serve-sizes.js')).serveSizes(addresses, access);
  const isShown = filter === undefined ? () => true : nameFilter(filter);
  const shown = found.filter(({ agent }) => isShown(agent)).map((sizes) => ({ sizes, key: numericKey(sizes.name) }));
  if (shown.length === 0) {
    const matching = filter === undefined ? '' : ` that match ${filter}`;
    const of = url === undefined ? 'kept state of agents' : 'agents';
    throw new Failure(`no ${of}${matching} ${place}`, ExitCode.NO_RINGS);
  }
  const inOrder: ListedSizes[] = shown.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ sizes }) => sizes);
  const lines = json === true ? sizeObjects(inOrder).map(printableJson) : sizeTable(inOrder, widthOfTerminal());
  for (const line of lines) print(line);
}

function widthOfTerminal(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns || DEFAULT_COLUMNS : undefined;
}

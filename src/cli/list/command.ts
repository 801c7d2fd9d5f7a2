/** `nixl-otel list`: the rings of a directory and the fields of their headers. Drains and changes nothing. */
import path from 'node:path';
import { type Command, Option } from 'commander';
import { notEmpty, wholeNumber } from '../../settings/shape.js';
import { EngineTable } from '../../engines/identify.js';
import { AgentIdentities } from '../../instrumentation/agents/agent-identities.js';
import { missingSights } from '../../shm-bridge/process-sight.js';
import { findWriters, inspectRing, readState, requireRings } from '../../shm-bridge/ring.js';
import type { RingInspection } from '../../shm-bridge/types.js';
import { ExitCode, exitCodeOf, Failure } from '../../process/failure.js';
import { oneLine, printableJson } from '../../ground/one-line.js';
import { print, warnOnce } from '../../process/output.js';
import { shortageIn } from '../../view/rings/directory-space.js';
import { addDirectoryOption, DIRECTORY_VARIABLE, directoriesOf } from '../directory-option.js';
import { parserOf } from '../../process/flag-parser.js';
import { isHeld, lockHolders } from '../../view/rings/ring-locks.js';
import { type Complain, filesBelow, isNotPermitted, numericKey, statOf } from '../../view/rings/ring-files.js';
import { dateAndTime, spanText } from '../../ground/figures/clock.js';
import { ifKnown, percent } from '../../ground/figures/figure.js';
import { table } from '../../view/figures/table.js';
import { addClientOptions, clientAccess } from '../../view/client/client-options.js';
import type { AgentModel } from '../../view/model/agent-model.js';
import type { ListSizesOptions } from './sizes.js';

interface ListOptions extends ListSizesOptions {
  sizes?: boolean;
  sort: ListSortKey;
  interval?: number;
}

/** What a header and the state file say of an agent. */
type ListedAgent = Pick<AgentModel, 'agent' | 'pid' | 'writers' | 'startTimeMs'>;

interface ListRow extends Omit<RingInspection, 'consumed'>, ListedAgent {
  path: string;
  /** Time at which the header was read, milliseconds since the epoch. */
  takenMs: number;
  /** Engine and ranks of the process that writes the ring. */
  engine?: AgentModel['engine'];
  /** Only of a ring that is ready. */
  life?: AgentModel['life'] | undefined;
  /** User id; absent if the file cannot be examined. */
  owner: number | undefined;
  /** Whether a consumer of this package holds the ring; absent if that cannot be seen, or the ring is not ready. */
  held?: boolean | undefined;
  /** Milliseconds since the file was created; absent if the file system does not record that time. */
  ageMs: number | undefined;
}

const HELP = `
ENGINE: the engine that has the agent, its instance, role and ranks, as its process, the ancestors and the name tell. PENDING: events that no consumer has taken yet. FILL: share of the ring that they fill. held: a consumer of this
package drains the ring; held?: perhaps, one of another PID namespace. PID: the process that writes the ring; unknown if
it may be one that this user cannot see. 2 writers: two processes can write the ring, and overwrite events of each other, unless one is a reader of
NIXL's own. AGE: time since the file was created; an agent that restarts under its name uses the same file. SINCE:
time since which serve counts the agent's events, by its state file; only for rings that this user's serve reads.

Rings are in the order of their names, with numbers in numeric order. --sort puts the largest values, the oldest rings
and the states other than ready first. On a terminal the table is as wide as the screen: long names are cut in the
middle, and columns are left out. A pipe and --json get everything.

--sizes shows, for each agent, direction (tx: it wrote, rx: it read) and size class, the transfers since its sums began.
WAY: the last known way of the bytes of the direction, from serve at --url; kept state has none. few: fewer
than 20, so that the percentiles say little. The line below says what time depends on, in the last minute: a part that does not
depend on the size, and a rate that large transfers approach; or why there is none. From kept state both are of all transfers up to
the last event, whose time is below.

Examples:
  nixl-otel list --dir /dev/shm/nixl
  nixl-otel list --sizes --url gpu-node-17
  nixl-otel list --dir /dev/shm/nixl --watch --sort fill
  nixl-otel list --dir /dev/shm/nixl --filter decode --json | jq .pending`;

const DEFAULT_COLUMNS = 80;

interface ListColumn {
  readonly key: string;
  readonly heading: string;
  readonly text: (row: ListRow) => string;
  readonly order: (row: ListRow) => number | string | undefined;
  /** On a narrow terminal, columns with larger numbers are left out first. Absent for columns that always show. */
  readonly leaveOut?: number;
}

const number = (field: 'wireVersion' | 'capacity' | 'pending' | 'writePos' | 'readPos' | 'owner' | 'pid') => ({
  text: (row: ListRow): string => ifKnown(row[field], String),
  order: (row: ListRow) => row[field],
});

const COLUMNS = [
  { key: 'agent', heading: 'AGENT', text: ({ agent }) => oneLine(agent), order: ({ agent }) => numericKey(agent) },
  {
    key: 'engine',
    heading: 'ENGINE',
    text: ({ engine }) => ifKnown(engine?.label, oneLine),
    order: ({ engine }) => engine?.label && numericKey(engine.label),
    leaveOut: 3,
  },
  { key: 'wire', heading: 'WIRE', ...number('wireVersion'), leaveOut: 1 },
  { key: 'slots', heading: 'SLOTS', ...number('capacity'), leaveOut: 4 },
  { key: 'pending', heading: 'PENDING', ...number('pending'), leaveOut: 3 },
  { key: 'fill', heading: 'FILL', text: (row) => ifKnown(fillOf(row), percent), order: (row) => fillOf(row) },
  { key: 'write', heading: 'WRITE', ...number('writePos'), leaveOut: 7 },
  { key: 'read', heading: 'READ', ...number('readPos'), leaveOut: 6 },
  { key: 'owner', heading: 'OWNER', ...number('owner'), leaveOut: 5 },
  {
    key: 'pid',
    heading: 'PID',
    ...number('pid'),
    text: ({ pid, life }) => ifKnown(pid, String, life === 'unknown' ? life : undefined),
  },
  {
    key: 'age',
    heading: 'AGE',
    text: ({ ageMs }) => ifKnown(ageMs, spanText),
    order: ({ ageMs }) => ageMs,
    leaveOut: 2,
  },
  {
    key: 'since',
    heading: 'SINCE',
    text: ({ startTimeMs }) => ifKnown(startTimeMs, dateAndTime),
    order: ({ startTimeMs }) => startTimeMs && -startTimeMs,
    leaveOut: 8,
  },
  {
    key: 'state',
    heading: 'STATE',
    text: stateText,
    order: ({ state, held }) => (state !== 'ready' ? 2 : held === false ? 1 : 0),
  },
] as const satisfies readonly ListColumn[];

type ListSortKey = (typeof COLUMNS)[number]['key'];

/** A ring of n slots is full with n - 1 events. */
function fillOf({ pending, capacity }: ListRow): number | undefined {
  return pending === undefined || capacity === undefined ? undefined : pending / (capacity - 1);
}

function stateText({ state, reason, held, writers }: ListRow): string {
  if (state !== 'ready') return oneLine(`${state}: ${reason}`);
  const drained = held === false ? 'ready' : held === true ? 'ready, held' : 'ready, held?';
  return writers === undefined ? drained : `${drained}, ${writers.length} writers: ${writers.join(' ')}`;
}

export function defineList(command: Command): void {
  addClientOptions(addDirectoryOption(command))
    .option('--json', 'one JSON object per ring; with --sizes, per class and per line')
    .option('--sizes', 'transfers and their times by size, of --url or from the kept state of serve in --dir')
    .option(
      '--url <url>',
      'address of a running serve for --sizes, as gpu-node-17:9464 or unix:/path; may be repeated; instead of --dir',
      (text: string, before: readonly string[] = []) => [...before, text],
    )
    .addOption(
      new Option('--sort <column>', 'column to sort by').choices(COLUMNS.map(({ key }) => key)).default('agent'),
    )
    .option(
      '--filter <text>',
      'only agents with this text in their name, where ? is any character; with * a glob of the name',
      parserOf(notEmpty('a part of a name')),
    )
    .option('--watch', 'repeat until Ctrl-C')
    .option(
      '--interval <ms>',
      'time between two repetitions of --watch (default: 1000)',
      parserOf(wholeNumber(100, 3_600_000)),
    )
    .addHelpText('after', HELP)
    .action((options: ListOptions) => list(options, command));
}

async function list(options: ListOptions, command: Command): Promise<void> {
  const { dir, json, sort, filter, watch, interval, sizes, url } = options;
  if (sizes === true) return (await import('./sizes.js')).listSizes(options, command);
  if (url !== undefined) command.error('error: --url needs --sizes');
  clientAccess(options, [], command);
  const directories = directoriesOf(dir);
  if (directories === undefined) {
    command.error(`error: no directory of rings: give --dir <dir> or set ${DIRECTORY_VARIABLE}`);
  }
  if (interval !== undefined && watch !== true) command.error('error: --interval needs --watch');
  requireRings();
  const isShown =
    filter === undefined ? () => true : (await import('../../view/rings/name-filter.js')).nameFilter(filter);
  const rowsNow = (complain: Complain): ListRow[] =>
    withProcesses(directories.flatMap((directory) => rowsIn(directory, isShown, complain)));
  const asTable = json === true ? undefined : await tableWriter(sort);
  const textOf = (rows: readonly ListRow[]): string =>
    asTable?.(sorted(rows, sort)) ?? sorted(rows, sort).map(printableJson).join('\n');
  const matching = filter === undefined ? '' : ` that match ${filter}`;
  const place = `${matching} in ${directories.join(', ')}`;
  if (watch === true) {
    const { watchList } = await import('./watch.js');
    return watchList(rowsNow, textOf, { intervalMs: interval ?? 1_000, place: json === true ? undefined : place });
  }
  const warn = warnOnce();
  let isDenied = false;
  const rows = rowsNow((complaint) => {
    warn(complaint.text);
    isDenied ||= isNotPermitted(complaint);
  });
  if (rows.length === 0) {
    throw isDenied
      ? new Failure(`no rings${place} that this user may read`, ExitCode.DENIED)
      : new Failure(`no rings${place}`, ExitCode.NO_RINGS);
  }
  print(textOf(rows));
  for (const directory of directories) {
    const inside = rows.filter((row) => row.path.startsWith(path.join(directory, '/')));
    const shortage = filter === undefined ? shortageIn(directory, inside.map(withWriter)) : undefined;
    if (shortage !== undefined) warn(`${oneLine(directory)} has ${shortage}`);
  }
  if (!rows.some(({ state }) => state === 'ready')) {
    const code = isDenied ? ExitCode.DENIED : exitCodeOf(rows[0]!.state);
    throw new Failure('none of these files is a ring that can be read', code);
  }
}

type InspectedRow = ListRow & Pick<RingInspection, 'consumed'>;

function rowsIn(directory: string, isShown: (agent: string) => boolean, complain: Complain): InspectedRow[] {
  return filesBelow(directory, complain)
    .filter(isShown)
    .map((agent) => {
      const file = path.join(directory, agent);
      // Not ctime: stores of a producer change it.
      const { uid: owner, birthtimeMs = 0 } = statOf(file, complain) ?? {};
      const takenMs = Date.now();
      const ageMs = birthtimeMs > 0 ? Math.max(0, Math.round(takenMs - birthtimeMs)) : undefined;
      const startTimeMs = readState(file)?.startTimeMs;
      return { path: file, agent, takenMs, owner, ageMs, startTimeMs, ...inspectRing(file) };
    });
}

const withWriter = (row: ListRow) => ({ ...row, writer: row.pid });

function withProcesses(rows: readonly InspectedRow[]): ListRow[] {
  const paths = rows.map((row) => row.path);
  const [found, holders] = [findWriters(paths), lockHolders(paths)];
  const identities = new AgentIdentities({ table: new EngineTable() });
  const isSure = found.every((writers) => writers.length > 0) || missingSights().length === 0;
  return rows.map(({ consumed, ...row }, i) => {
    const [writers, held] = [found[i]!, consumed === undefined ? undefined : isHeld({ holder: holders[i], consumed })];
    const life = writers.length > 0 ? 'alive' : isSure ? 'dead' : 'unknown';
    const [pid] = writers;
    const engine = row.state === 'ready' ? identities.of({ id: i, agent: row.agent, pid, life }) : undefined;
    return {
      ...row,
      pid,
      engine,
      life: row.state === 'ready' ? life : undefined,
      writers: writers.length < 2 ? undefined : writers,
      held,
    };
  });
}

/** Sorts rows. Names decide between equal values. */
function sorted(rows: readonly ListRow[], key: ListSortKey): ListRow[] {
  const { order }: ListColumn = COLUMNS.find((column) => column.key === key)!;
  const byName = rows.map((row) => ({ row, name: numericKey(row.agent), value: order(row) }));
  byName.sort((a, b) => compare(a.value, b.value) || compare(a.name, b.name));
  return byName.map(({ row }) => row);
}

/** Larger numbers and smaller texts come first, and unknown values last. */
function compare(a: number | string | undefined, b: number | string | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1;
  return a < b === (typeof a === 'string') ? -1 : 1;
}

/** Returns the table of a pipe, or one that is as wide as the terminal. */
async function tableWriter(sort: ListSortKey): Promise<(rows: readonly ListRow[]) => string> {
  const fittedTable = process.stdout.isTTY ? (await import('./fitted-table.js')).fittedTable : undefined;
  return (rows) => {
    const isKnown = rows.some(({ engine }) => engine?.label !== undefined);
    const columns = COLUMNS.filter(({ key }) => isKnown || key !== 'engine');
    const cells = rows.map((row) => columns.map(({ text }) => text(row)));
    if (fittedTable !== undefined) return fittedTable(columns, cells, process.stdout.columns || DEFAULT_COLUMNS, sort);
    return table(
      columns.map(({ heading }) => heading),
      cells,
    );
  };
}

/** `nixl-otel list`: the rings of a directory and the fields of their headers. Drains and changes nothing. */
import path from 'node:path';
import type { Command } from 'commander';
import { findWriters, inspectRing, readState, requireRings } from '../../shm-bridge/ring.js';
import type { RingInspection } from '../../shm-bridge/types.js';
import { ExitCode, exitCodeOf, Failure } from '../process/failure.js';
import { oneLine, printableJson } from '../../one-line.js';
import { print, warnOnce } from '../process/output.js';
import { addDirectoryOption, DIRECTORY_VARIABLE, directoriesOf } from '../directory-option.js';
import { type Complain, filesBelow, isNotPermitted, statOf } from '../ring-files.js';
import { age, dateAndTime, ifKnown } from '../figures/formats.js';
import { table } from '../figures/table.js';

interface ListOptions {
  dir?: string[];
  json?: boolean;
}

interface Row extends RingInspection {
  path: string;
  agent: string;
  /** User id; absent if the file cannot be examined. */
  owner?: number;
  pid?: number;
  /** Milliseconds since the file was created; absent if the file system does not record that time. */
  ageMs?: number;
  /** Time at which the agent's sums in its state file were 0, milliseconds since the epoch; absent without such a file. */
  startTimeMs?: number;
}

const HELP = `
held: a consumer of this package drains the ring. PID: the process that writes the ring, if it is visible. AGE: time since
the file was created; an agent that restarts under its name uses the same file. SINCE: time since which serve counts the
agent's events, by its state file; only for rings that this user's serve reads.`;

export function defineList(command: Command): void {
  addDirectoryOption(command)
    .option('--json', 'one JSON object per ring')
    .addHelpText('after', HELP)
    .action((options: ListOptions) => list(options, command));
}

function list({ dir, json }: ListOptions, command: Command): void {
  const directories = directoriesOf(dir);
  if (directories === undefined) {
    command.error(`error: no directory of rings: give --dir <dir> or set ${DIRECTORY_VARIABLE}`);
  }
  requireRings();
  const warn = warnOnce();
  let isDenied = false;
  const complain: Complain = (complaint) => {
    warn(complaint.text);
    isDenied ||= isNotPermitted(complaint);
  };
  const rows = directories.flatMap((directory) => rowsIn(directory, complain));
  if (rows.length === 0) {
    const none = `no rings in ${directories.join(', ')}`;
    throw isDenied
      ? new Failure(`${none} that this user may read`, ExitCode.DENIED)
      : new Failure(none, ExitCode.NO_RINGS);
  }
  const writers = findWriters(rows.map((row) => row.path));
  rows.forEach((row, i) => {
    if (writers[i] !== undefined) row.pid = writers[i];
  });
  if (json === true) for (const row of rows) print(printableJson(row));
  else print(asTable(rows));
  if (!rows.some(({ state }) => state === 'ready')) {
    const code = isDenied ? ExitCode.DENIED : exitCodeOf(rows[0]!.state);
    throw new Failure('none of these files is a ring that can be read', code);
  }
}

function rowsIn(directory: string, complain: Complain): Row[] {
  return filesBelow(directory, complain).map((agent) => {
    const file = path.join(directory, agent);
    // Not ctime: stores of a producer change it.
    const { uid, birthtimeMs = 0 } = statOf(file, complain) ?? {};
    const owner = uid === undefined ? {} : { owner: uid };
    const age = birthtimeMs > 0 ? { ageMs: Math.max(0, Math.round(Date.now() - birthtimeMs)) } : {};
    const startTimeMs = readState(file)?.startTimeMs;
    const since = startTimeMs === undefined ? {} : { startTimeMs };
    return { path: file, agent, ...owner, ...age, ...since, ...inspectRing(file) };
  });
}

const number = (value: number | undefined): string => ifKnown(value, String);

const COLUMNS: readonly (readonly [heading: string, text: (row: Row) => string])[] = [
  ['AGENT', ({ agent }) => oneLine(agent)],
  ['WIRE', ({ wireVersion }) => number(wireVersion)],
  ['SLOTS', ({ capacity }) => number(capacity)],
  ['FILL', ({ pending }) => number(pending)],
  ['WRITE', ({ writePos }) => number(writePos)],
  ['READ', ({ readPos }) => number(readPos)],
  ['OWNER', ({ owner }) => number(owner)],
  ['PID', ({ pid }) => number(pid)],
  ['AGE', ({ ageMs }) => ifKnown(ageMs, age)],
  ['SINCE', ({ startTimeMs }) => ifKnown(startTimeMs, (ms) => dateAndTime(new Date(ms)))],
  ['STATE', stateText],
];

function asTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => COLUMNS.map(([, text]) => text(row)));
  return table(
    COLUMNS.map(([heading]) => heading),
    cells,
  );
}

function stateText({ state, reason, consumed }: Row): string {
  if (state !== 'ready') return oneLine(`${state}: ${reason}`);
  return consumed === true ? 'ready, held' : 'ready';
}

/** `nixl-otel prune`: removes rings whose agents have ended and will not come back. Without --yes it only lists them. */
import path from 'node:path';
import type { Command } from 'commander';
import { binaryText, plural } from '../../ground/figures/figure.js';
import { oneLine, printableJson } from '../../ground/one-line.js';
import { ExitCode, Failure } from '../../process/failure.js';
import { print, warnOnce } from '../../process/output.js';
import { missingSights } from '../../shm-bridge/process-sight.js';
import { findWriters, readState, requireRings } from '../../shm-bridge/ring.js';
import { SeenRing } from '../../shm-bridge/seen-ring.js';
import { table } from '../../view/figures/table.js';
import { filesBelow, isNotPermitted, statOf } from '../../view/rings/ring-files.js';
import { addDirectoryOption, DIRECTORY_VARIABLE, directoriesOf } from '../directory-option.js';

interface PruneOptions {
  dir?: string[];
  yes?: boolean;
  force?: boolean;
  json?: boolean;
}

const HELP = `
An engine gives its agents new names at each start, and the rings of the old ones stay. prune removes a ring, and its state file, if
all of this is so:
- no process writes it: prune sees all processes of the host, or serve had seen the writer, which has ended;
- it is empty, and nobody has locked it: a serve that runs still exports an agent of whose end it learnt a short time ago;
- serve keeps no counts of it, or counts of an agent that has had no event for 10 minutes;
- its name is a UUID, alone or as engines begin it (hicache_nixl_UUID). An agent may open any other name again at any
  moment, and then writes events that nobody finds: --force, if you know that it does not.

Without --yes nothing is removed.

Examples:
  nixl-otel prune --dir /dev/shm/nixl
  nixl-otel prune --dir /dev/shm/nixl --yes
  nixl-otel prune --dir /dev/shm/nixl --json | jq 'select(.action == "keep") | .reason'`;

export function definePrune(command: Command): void {
  addDirectoryOption(command)
    .option('--yes', 'remove them')
    .option('--force', 'also names that an agent may open again')
    .option('--json', 'one JSON object per ring')
    .addHelpText('after', HELP)
    .action((options: PruneOptions) => prune(options, command));
}

interface PrunedRing {
  readonly agent: string;
  readonly path: string;
  /** Bytes of the file. */
  readonly bytes: number;
  /** `remove`: --yes would remove it. */
  readonly action: 'keep' | 'remove' | 'removed';
  /** Why it stays, or what shows that its agent has ended. */
  readonly reason: string;
}

function prune(options: PruneOptions, command: Command): void {
  const { yes = false, force = false, json = false } = options;
  const directories = directoriesOf(options.dir);
  if (directories === undefined) {
    command.error(`error: no directory of rings: give --dir <dir> or set ${DIRECTORY_VARIABLE}`);
  }
  requireRings();
  const warn = warnOnce();
  let isDenied = false;
  const found = directories.flatMap((directory) =>
    filesBelow(directory, (complaint) => {
      warn(complaint.text);
      isDenied ||= isNotPermitted(complaint);
    }).map((agent) => ({ agent, seen: new SeenRing(path.join(directory, agent)) })),
  );
  const rings = found.filter(({ seen }) => statOf(seen.path, () => {})?.isFile());
  if (rings.length === 0) {
    throw new Failure(`no rings in ${directories.join(', ')}`, isDenied ? ExitCode.DENIED : ExitCode.NO_RINGS);
  }
  const ends = endsOf(
    rings.map(({ seen }) => seen.path),
    force,
  );
  const lines = rings.map(({ agent, seen }, i): PrunedRing => {
    const ring = { agent, path: seen.path, bytes: statOf(seen.path, () => {})?.size ?? 0 };
    const { proof, doubt } = ends[i]!;
    const problem = doubt?.isLive ? doubt.why : (seen.problem ?? seen.whyItStays(force) ?? doubt?.why);
    if (problem !== undefined) return { ...ring, action: 'keep', reason: problem };
    const refusal = yes ? seen.remove(force) : undefined;
    if (refusal !== undefined) return { ...ring, action: 'keep', reason: refusal };
    return { ...ring, action: yes ? 'removed' : 'remove', reason: proof! };
  });
  print(json ? lines.map(printableJson).join('\n') : textOf(lines, yes));
}

interface RingEnd {
  readonly proof?: string;
  readonly doubt?: { readonly isLive: boolean; readonly why: string };
}

/** Returns the proof that the writer of each ring has ended, or the reason why that is not known. Called after the first look at the rings. */
function endsOf(paths: readonly string[], force: boolean): RingEnd[] {
  // A process that starts during the first search is seen by the second.
  const searches = [findWriters(paths), findWriters(paths)];
  const [missing] = missingSights();
  return paths.map((file, i) => {
    const pid = searches.flatMap((writers) => writers[i]!)[0];
    if (pid !== undefined) return { doubt: { isLive: true, why: `process ${pid} writes it` } };
    if (missing === undefined) return { proof: 'no process writes it' };
    // Another process may have opened a name that is not new.
    if (!force && readState(file)?.writerEnded) return { proof: 'the process that serve saw write it has ended' };
    const why = `the process that writes it may be invisible: ${missing.why}; ${missing.mend}`;
    return { doubt: { isLive: false, why } };
  });
}

function textOf(lines: readonly PrunedRing[], yes: boolean): string {
  const gone = lines.filter(({ action }) => action !== 'keep');
  const rows = lines.map(({ agent, bytes, action, reason }) => [
    oneLine(agent),
    binaryText(bytes),
    action,
    oneLine(reason),
  ]);
  const sum = binaryText(gone.reduce((total, { bytes }) => total + bytes, 0));
  const what = `${gone.length} of ${plural(lines.length, 'ring')}, ${sum}`;
  const last = yes
    ? `removed ${what}`
    : gone.length === 0
      ? `none of ${plural(lines.length, 'ring')} can be removed`
      : `--yes removes ${what}`;
  return `${table(['AGENT', 'SIZE', 'WHAT', 'WHY'], rows)}\n${last}`;
}

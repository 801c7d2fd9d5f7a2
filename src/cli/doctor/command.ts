/** `nixl-otel doctor`: why there are no metrics, or too few. Drains, locks and changes nothing. */
import type { Command } from 'commander';
import { oneLine, printableJson } from '../../ground/one-line.js';
import { plural } from '../../ground/figures/figure.js';
import { filePath, wholeNumber } from '../../settings/shape.js';
import { addClientOptions, clientAccess, type ClientOptions } from '../../view/client/client-options.js';
import { addDirectoryOption, directoriesOf } from '../directory-option.js';
import { parserOf } from '../../process/flag-parser.js';
import { ExitCode, Failure } from '../../process/failure.js';
import { print } from '../../process/output.js';
import type { Examination } from './checks.js';
import type { DoctorFinding, FindingStatus } from '../../view/answers/doctor-finding.js';

interface DoctorOptions extends ClientOptions {
  dir?: string[];
  pid?: number;
  url?: string;
  engine?: string;
  json?: boolean;
  bundle?: string;
}

/** Limit of the kernel. */
const MOST_PID = 2 ** 22;

const HELP = `
Without --pid and --url, doctor checks the directories that serve would read, the processes that use NIXL, and the
outputs of serve: its port, and the answer of its OTLP receiver to a push without metrics. It drains no ring and changes
no file. As another user than that of the agents it sees less, and says so.

--engine compares the engine's own page of metrics with the rings of its agents: of the serve at --url, by default that of
the engine's host, or of the state that serve keeps in --dir. Transfers, bytes, and the sums of their times and post times are equal, or
a finding with the reasons that are known. Of the engines, only vLLM has such numbers.

problem: metrics are missing or too low, or would be. note: a risk, or a fact that doctor could not check. The exit
code is 1 with a problem, else 0.

--bundle writes one JSON file for a report of a bug, in place of printing findings, and prints what is in it: versions,
settings, findings, headers of rings (no events), files of state, answers of serve, processes that use NIXL and
their ancestors with their variables NIXL_* and UCX_*. Known secrets are replaced. The exit code is 0 if the
file is written.

Examples:
  nixl-otel doctor --dir /dev/shm/nixl
  nixl-otel doctor --bundle report.json
  sudo nixl-otel doctor --pid 4711
  nixl-otel doctor --url http://127.0.0.1:9464
  nixl-otel doctor --engine http://127.0.0.1:8100
  nixl-otel doctor --json | jq 'select(.status != "ok")'`;

export function defineDoctor(command: Command): void {
  addClientOptions(addDirectoryOption(command))
    .option('--pid <pid>', 'check one process and its directory', parserOf(wholeNumber(1, MOST_PID, 'a process id')))
    .option('--url <url>', 'check a running serve by its answer, at an address as that of top')
    .option('--engine <url>', "compare an engine's own metrics with those of its agents, as http://127.0.0.1:8100")
    .option('--json', 'one JSON object per finding')
    .option('--bundle <file>', 'write all that a bug report needs to a new file, JSON', parserOf(filePath))
    .addHelpText('after', HELP)
    .action((options: DoctorOptions) => doctor(options, command));
}

async function doctor(options: DoctorOptions, command: Command): Promise<void> {
  const { dir, pid, url, engine, json, bundle } = options;
  const exclude = (given: readonly (string | false | 0 | undefined)[]): void => {
    const both = given.filter(Boolean);
    if (both.length > 1) command.error(`error: ${both.join(' and ')} exclude each other: give one of them`);
  };
  exclude([dir && '--dir', pid && '--pid', url && '--url']);
  exclude([engine && '--engine', pid && '--pid']);
  exclude([json && '--json', bundle && '--bundle']);
  const seen = await examined(options, command);
  if (bundle !== undefined) {
    const { writeBundle } = await import('./bundle/bundle.js');
    return print(await writeBundle(bundle, seen));
  }
  const { findings } = seen;
  for (const one of findings) print(json === true ? printableJson(one) : asText(one));
  const count = (status: FindingStatus): number => findings.filter((one) => one.status === status).length;
  const [problems, notes] = [count('problem'), count('note')];
  if (problems === 0) return;
  const texts = [plural(problems, 'problem'), ...(notes > 0 ? [plural(notes, 'note')] : [])];
  throw new Failure(texts.join(', '), ExitCode.FAILED);
}

async function examined({ dir, pid, url, engine, ...client }: DoctorOptions, command: Command): Promise<Examination> {
  const { ENGINE_OPTION, serverAddresses } = await import('../url-option.js');
  const ofEngine = engine === undefined ? undefined : serverAddresses([engine], command, ENGINE_OPTION)[0];
  // Without a directory, the rings are those of a serve beside the engine.
  const besideEngine = ofEngine?.socketPath === undefined ? ofEngine?.url.hostname : 'localhost';
  const server = url ?? (dir === undefined ? besideEngine : undefined);
  const serve = server === undefined ? undefined : serverAddresses([server], command)[0];
  const access = clientAccess(client, serve === undefined ? [] : [serve], command);
  if (ofEngine !== undefined) {
    const { examineEngine, ringsOfDirectories, ringsOfServe } = await import('./engine-checks.js');
    return examineEngine(
      ofEngine,
      serve === undefined ? ringsOfDirectories(directoriesOf(dir)!) : ringsOfServe(serve, access),
    );
  }
  const { examineHost, examineProcess, examineServe } = await import('./checks.js');
  if (serve !== undefined) return examineServe(serve, access);
  if (pid !== undefined) return examineProcess(pid);
  return examineHost(dir);
}

function asText({ status, finding, subject, what, why, mend }: DoctorFinding): string {
  const head = `${status.padEnd('problem'.length)}  ${oneLine(`${subject}: ${what}`)}`;
  if (why === undefined) return head;
  return [`${head} [${finding}]`, `         why: ${why}`, `         do:  ${oneLine(mend!)}`].join('\n');
}

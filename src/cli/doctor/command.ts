/** `nixl-otel doctor`: why there are no metrics, or too few. Drains, locks and changes nothing. */
import type { Command } from 'commander';
import { oneLine, printableJson } from '../../one-line.js';
import { httpUrl, wholeNumber } from '../../settings/shape.js';
import { addDirectoryOption } from '../directory-option.js';
import { parserOf } from '../flag-parser.js';
import { ExitCode, Failure } from '../process/failure.js';
import { print } from '../process/output.js';
import type { Finding } from './finding.js';

interface DoctorOptions {
  dir?: string[];
  pid?: number;
  url?: string;
  json?: boolean;
}

/** Limit of the kernel. */
const MOST_PID = 2 ** 22;

const HELP = `
Without --pid and --url, doctor checks the directories that serve would read, the processes that use NIXL, and the
outputs of serve: its port, and the answer of its OTLP receiver to a push without metrics. It drains no ring and changes
no file. As another user than that of the agents it sees less, and says so.

problem: metrics are missing, or would be. note: a risk, or a fact that doctor could not check. The exit code is 0
without a problem, and 1 with one.

Examples:
  nixl-otel doctor --dir /dev/shm/nixl
  sudo nixl-otel doctor --pid 4711
  nixl-otel doctor --url http://127.0.0.1:9464
  nixl-otel doctor --json | jq 'select(.status != "ok")'`;

export function defineDoctor(command: Command): void {
  addDirectoryOption(command)
    .option('--pid <pid>', 'check one process and its directory', parserOf(wholeNumber(1, MOST_PID, 'a process id')))
    .option('--url <url>', 'check a running serve by its answer', parserOf(httpUrl))
    .option('--json', 'one JSON object per finding')
    .addHelpText('after', HELP)
    .action((options: DoctorOptions) => doctor(options, command));
}

async function doctor(options: DoctorOptions, command: Command): Promise<void> {
  const { dir, pid, url, json } = options;
  const given = [dir && '--dir', pid && '--pid', url && '--url'].filter((one) => one !== undefined);
  if (given.length > 1) command.error(`error: ${given.join(' and ')} exclude each other: give one of them`);
  const findings = await findingsOf(options);
  for (const one of findings) print(json === true ? printableJson(one) : asText(one));
  const problems = findings.filter(({ status }) => status === 'problem').length;
  if (problems > 0) throw new Failure(problems === 1 ? '1 problem' : `${problems} problems`, ExitCode.FAILED);
}

async function findingsOf({ dir, pid, url }: DoctorOptions): Promise<Finding[]> {
  const { hostFindings, processAndItsRings, serveFindings } = await import('./checks.js');
  if (url !== undefined) return serveFindings(new URL(url));
  if (pid !== undefined) return processAndItsRings(pid);
  return hostFindings(dir);
}

function asText({ status, finding, subject, what, why, mend }: Finding): string {
  const head = `${status.padEnd('problem'.length)}  ${oneLine(`${subject}: ${what}`)}`;
  if (why === undefined) return head;
  return [`${head} [${finding}]`, `         why: ${why}`, `         do:  ${oneLine(mend!)}`].join('\n');
}

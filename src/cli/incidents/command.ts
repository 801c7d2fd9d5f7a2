/** `nixl-otel incidents`: what running serves have found in the last day, with begin and end. */
import type { Command } from 'commander';
import { parsedJson, reasonOf } from '../../ground/errors.js';
import { printableJson } from '../../ground/one-line.js';
import { Failure } from '../../process/failure.js';
import { print } from '../../process/output.js';
import { INCIDENTS_PATH, type IncidentsAnswer, isIncidentsAnswer } from '../../view/answers/incidents-answer.js';
import { type ClientAccess, HttpClient, isSuccess, refusalText } from '../../view/client/client.js';
import { addClientOptions, clientAccess, type ClientOptions } from '../../view/client/client-options.js';
import { addressOfPath, type ServerAddress } from '../../view/client/server-address.js';
import { serverAddresses } from '../url-option.js';
import { incidentObjects, incidentTable, type ListedIncident } from '../../view/incidents/incident-table.js';

const HELP = `
serve keeps incidents for a day after their end, also over its restarts: what its live page says is wrong, with begin, end and the
agents that it concerned. !: an alarm. Other lines are notes. WORST: the highest value that the incident had, where it has one.
Times are of the host of serve, and shown in the time zone of this command. The newest incident is the first one.

Examples:
  nixl-otel incidents
  nixl-otel incidents --url gpu-node-17 --url gpu-node-18
  nixl-otel incidents --json | jq 'select(.level == "alarm")'`;

const DEFAULT_URL = 'localhost';
const DEFAULT_COLUMNS = 80;

interface IncidentsOptions extends ClientOptions {
  url?: string[];
  json?: boolean;
}

export function defineIncidents(command: Command): void {
  addClientOptions(command)
    .option(
      '--url <url>',
      'address of a running serve, as gpu-node-17:9464 or unix:/path; may be repeated (default: localhost:9464)',
      (text: string, before: readonly string[] = []) => [...before, text],
    )
    .option('--json', 'one JSON object per incident')
    .addHelpText('after', HELP)
    .action((options: IncidentsOptions) => incidents(options, command));
}

async function incidents(options: IncidentsOptions, command: Command): Promise<void> {
  const addresses = serverAddresses(options.url ?? [DEFAULT_URL], command);
  const access = clientAccess(options, addresses, command);
  const answers = await Promise.all(addresses.map((address) => answerOf(address, access)));
  const listed = answers.flatMap(({ incidents, takenMs }, i): ListedIncident[] => {
    const host = addresses.length > 1 ? { host: addresses[i]!.name } : {};
    return incidents.map((incident) => ({ ...host, incident, takenMs }));
  });
  listed.sort((a, b) => b.incident.saidMs - a.incident.saidMs);
  if (options.json === true) return incidentObjects(listed).map(printableJson).forEach(print);
  const width = process.stdout.isTTY ? process.stdout.columns || DEFAULT_COLUMNS : undefined;
  print(listed.length === 0 ? 'no incidents in the last day' : incidentTable(listed, width));
}

/** @throws Failure without an answer of a serve */
async function answerOf(given: ServerAddress, access: ClientAccess): Promise<IncidentsAnswer> {
  const address = addressOfPath(given.url, INCIDENTS_PATH);
  const fail = (reason: string): never => {
    throw new Failure(`no incidents from ${given.socketPath === undefined ? address.origin : given.name}: ${reason}`);
  };
  const client = new HttpClient(given, access);
  try {
    const answer = await client.get(address).catch((error: unknown) => fail(reasonOf(error)));
    if (answer.status === 404) return fail('no such address: serve is older than this command, or has --page off');
    if (!isSuccess(answer)) return fail(refusalText(answer));
    const json = parsedJson(answer.text);
    return isIncidentsAnswer(json) ? json : fail('the answer is not that of serve');
  } finally {
    client.close();
  }
}

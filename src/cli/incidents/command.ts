/** `nixl-otel incidents`: what running serves have found in the last day, with begin and end. */
import type { Command } from 'commander';
import { printableJson } from '../../ground/one-line.js';
import { print } from '../../process/output.js';
import { INCIDENTS_PATH, isIncidentsAnswer } from '../../view/answers/incidents-answer.js';
import { addClientOptions, clientAccess, type ClientOptions } from '../../view/client/client-options.js';
import { serveAnswer } from '../../view/client/serve-answer.js';
import { serveAddresses, serveUrlOption } from '../url-option.js';
import { incidentObjects, incidentTable, type ListedIncident } from '../../view/incidents/incident-table.js';

const HELP = `
serve keeps incidents for a day after their end, also over its restarts: what its live page says is wrong, with begin, end and the
agents that it concerned. !: an alarm. Other lines are notes. WORST: the highest value that the incident had, where it has one.
Times are of the host of serve, and shown in the time zone of this command. The newest incident is the first one.

Examples:
  nixl-otel incidents
  nixl-otel incidents --url gpu-node-17 --url gpu-node-18
  nixl-otel incidents --json | jq 'select(.level == "alarm")'`;

const DEFAULT_COLUMNS = 80;
const QUESTION = { path: INCIDENTS_PATH, what: 'incidents', isAnswer: isIncidentsAnswer };

interface IncidentsOptions extends ClientOptions {
  url?: string[];
  json?: boolean;
}

export function defineIncidents(command: Command): void {
  addClientOptions(command)
    .addOption(serveUrlOption())
    .option('--json', 'one JSON object per incident')
    .addHelpText('after', HELP)
    .action((options: IncidentsOptions) => incidents(options, command));
}

async function incidents(options: IncidentsOptions, command: Command): Promise<void> {
  const addresses = serveAddresses(options.url, command);
  const access = clientAccess(options, addresses, command);
  const answers = await Promise.all(addresses.map((address) => serveAnswer(address, access, QUESTION)));
  const listed = answers.flatMap(({ incidents, takenMs }, i): ListedIncident[] => {
    const host = addresses.length > 1 ? { host: addresses[i]!.name } : {};
    return incidents.map((incident) => ({ ...host, incident, takenMs }));
  });
  listed.sort((a, b) => b.incident.saidMs - a.incident.saidMs);
  if (options.json === true) return incidentObjects(listed).map(printableJson).forEach(print);
  const width = process.stdout.isTTY ? process.stdout.columns || DEFAULT_COLUMNS : undefined;
  print(listed.length === 0 ? 'no incidents in the last day' : incidentTable(listed, width));
}

/** `nixl-otel maintenance`: announces that agents will end or be slow, so that serve notes it and raises no alarm. */
import { Argument, type Command } from 'commander';
import { spanText } from '../../ground/figures/clock.js';
import { parserOf } from '../../process/flag-parser.js';
import { print } from '../../process/output.js';
import { notEmpty, type Shape, refuse } from '../../settings/shape.js';
import { MAINTENANCE_PATH } from '../../view/answers/answer.js';
import { addClientOptions, clientAccess, type ClientOptions } from '../../view/client/client-options.js';
import { sendChange } from '../../view/client/serve-change.js';
import { serveAddresses, serveUrlOption } from '../url-option.js';

const HELP = `
While it lasts, ends of agents and slow transfers are notes of serve ("announced: TEXT"), not alarms. Without --for it lasts until
end, a day at most. end without --agent ends all of it. Without users in its web configuration, serve takes it only from its own
host.

Examples:
  nixl-otel maintenance start --for 10m new image
  nixl-otel maintenance start --agent 'decode-*' --url gpu-node-17
  nixl-otel maintenance end`;

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000 } as const;

interface MaintenanceOptions extends ClientOptions {
  url?: string[];
  for?: number;
  agent?: string;
}

const DURATION: Pick<Shape<number>, 'parse'> = {
  parse(text) {
    const [, count, unit] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
    const ms = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
    return ms > 0 && ms <= 24 * UNIT_MS.h ? ms : refuse('a time as 90s, 10m or 2h, a day at most');
  },
};

export function defineMaintenance(command: Command): void {
  addClientOptions(command)
    .addArgument(new Argument('<action>', 'start or end').choices(['start', 'end']))
    .argument('[text...]', 'what is done, for the people who see the notes')
    .option('--for <time>', 'end it by itself, as 90s, 10m or 2h', parserOf(DURATION as Shape<number>))
    .option('--agent <glob>', 'only agents whose name matches', parserOf(notEmpty('a glob')))
    .addOption(serveUrlOption())
    .addHelpText('after', HELP)
    .action((action: 'start' | 'end', words: string[], options: MaintenanceOptions) =>
      announce(action, words, options, command),
    );
}

async function announce(
  action: 'start' | 'end',
  words: readonly string[],
  options: MaintenanceOptions,
  command: Command,
): Promise<void> {
  const { agent, for: forMs } = options;
  if (action === 'end' && forMs !== undefined) command.error('error: --for needs start');
  if (action === 'end' && words.length > 0) command.error('error: a text needs start');
  const addresses = serveAddresses(options.url, command);
  const access = clientAccess(options, addresses, command);
  const text = words.length === 0 ? {} : { text: words.join(' ') };
  const body = JSON.stringify({ action, ...(forMs && { forMs }), ...(agent !== undefined && { agent }), ...text });
  for (const address of addresses) {
    await sendChange(address, access, { path: MAINTENANCE_PATH, body });
    const span =
      action === 'end' ? 'has ended' : forMs === undefined ? 'has begun' : `has begun, for ${spanText(forMs)}`;
    print(`${address.name}: maintenance ${span}`);
  }
}

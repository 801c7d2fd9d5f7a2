/** `nixl-otel accept`: takes the present times of agents that serve finds slow as usual. */
import type { Command } from 'commander';
import { plural } from '../../ground/figures/figure.js';
import { oneLine } from '../../ground/one-line.js';
import { parsedJson } from '../../ground/errors.js';
import { parserOf } from '../../process/flag-parser.js';
import { print } from '../../process/output.js';
import { notEmpty } from '../../settings/shape.js';
import { ACCEPT_PATH } from '../../view/answers/answer.js';
import { addClientOptions, clientAccess, type ClientOptions } from '../../view/client/client-options.js';
import { sendChange } from '../../view/client/serve-change.js';
import { serveAddresses, serveUrlOption } from '../url-option.js';

const HELP = `
After a planned change, such as another network, agents are found slow until their new times are usual: by itself serve takes them
as usual after --accept-after, a day. Without users in its web configuration, serve takes this only from its own host.

Examples:
  nixl-otel accept
  nixl-otel accept --agent 'decode-*' --url gpu-node-17`;

interface AcceptOptions extends ClientOptions {
  url?: string[];
  agent?: string;
}

export function defineAccept(command: Command): void {
  addClientOptions(command)
    .option('--agent <glob>', 'only agents whose name matches', parserOf(notEmpty('a glob')))
    .addOption(serveUrlOption())
    .addHelpText('after', HELP)
    .action((options: AcceptOptions) => accept(options, command));
}

async function accept(options: AcceptOptions, command: Command): Promise<void> {
  const { agent } = options;
  const addresses = serveAddresses(options.url, command);
  const access = clientAccess(options, addresses, command);
  const body = JSON.stringify({ ...(agent !== undefined && { agent }) });
  for (const address of addresses) {
    const answer = parsedJson(await sendChange(address, access, { path: ACCEPT_PATH, body }));
    const { accepted } = answer as { readonly accepted: readonly string[] };
    print(
      `${address.name}: the present times of ${plural(accepted.length, 'agent')} are usual from now on: ${accepted.map(oneLine).join(', ')}`,
    );
  }
}

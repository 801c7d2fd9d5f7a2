/** Flags with which commands ask a serve that has a web configuration. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { reasonOf } from '../../ground/errors.js';
import { filePath, pattern } from '../../settings/shape.js';
import { parserOf } from '../../process/flag-parser.js';
import type { ClientAccess } from './client.js';
import type { ServerAddress } from './server-address.js';
import { note } from '../../process/output.js';

export interface ClientOptions {
  ca?: string;
  cert?: string;
  key?: string;
  user?: string;
  passwordFile?: string;
}

const PASSWORD_VARIABLE = 'NIXL_OTEL_PASSWORD';

export function addClientOptions(command: Command): Command {
  const file = parserOf(filePath);
  return command
    .option('--ca <file>', 'authority of the certificate of --url, PEM', file)
    .option('--cert <file>', 'client certificate for --url, PEM; needs --key', file)
    .option('--key <file>', 'key of the client certificate, PEM', file)
    .option(
      '--user <name>',
      `user for --url; its password is in --password-file or ${PASSWORD_VARIABLE}`,
      parserOf(pattern('a name without a colon', /^[^:]+$/)),
    )
    .option('--password-file <file>', `file with the password of --user (env: ${PASSWORD_VARIABLE})`, file);
}

/** Reads the files. Ends the command if a flag has no effect, or lacks another one. `addresses`: those of --url. */
export function clientAccess(
  options: ClientOptions,
  addresses: readonly ServerAddress[],
  command: Command,
): ClientAccess {
  const { ca, cert, key, user, passwordFile } = options;
  const refuse = (reason: string): never => command.error(`error: ${reason}`);
  const ofTls = Object.entries({ '--ca': ca, '--cert': cert, '--key': key }).filter(([, file]) => file !== undefined);
  if (ofTls.length > 0 && !addresses.some(({ url }) => url.protocol === 'https:')) {
    refuse(`${ofTls[0]![0]} needs --url with an address that begins with https://`);
  }
  if (user !== undefined && addresses.length === 0) refuse('--user needs --url');
  if ((cert === undefined) !== (key === undefined)) refuse('--cert and --key need each other');
  if (passwordFile !== undefined && user === undefined) refuse('--password-file needs --user');
  if (addresses.some(({ url }) => url.password !== '')) {
    const better = `give --user, and the password in --password-file or ${PASSWORD_VARIABLE}`;
    note(`other users of this machine can see the password in --url: ${better}`, 'warning');
  }
  const read = (flag: string, file: string | undefined): string | undefined => {
    try {
      return file === undefined ? undefined : readFileSync(file, 'utf8');
    } catch (error) {
      return refuse(`${flag}: ${reasonOf(error)}`);
    }
  };
  const password = read('--password-file', passwordFile)?.replace(/\r?\n$/, '') ?? process.env[PASSWORD_VARIABLE];
  if (user !== undefined && password === undefined) {
    refuse(`--user needs a password: give --password-file <file> or set ${PASSWORD_VARIABLE}`);
  }
  const clear = addresses.filter((one) => (user !== undefined || one.url.password !== '') && isReadableOnNetwork(one));
  if (clear.length > 0) {
    const to = [...new Set(clear.map(({ name }) => name))].join(', ');
    const reason = 'so the network can read it: use https:// or a Unix socket';
    note(`the password goes to ${to} over http://, ${reason}`, 'warning');
  }
  const contents = { ca: read('--ca', ca), cert: read('--cert', cert), key: read('--key', key) };
  const given = Object.entries(contents).filter(([, text]) => text !== undefined);
  return { ...Object.fromEntries(given), ...(user === undefined ? {} : { credentials: `${user}:${password}` }) };
}

/** Returns the flags for one address, for another command. The password stays in its file or variable. */
export function clientFlags({ ca, cert, key, user, passwordFile }: ClientOptions, { url }: ServerAddress): string[] {
  const ofTls = url.protocol === 'https:' ? { '--ca': ca, '--cert': cert, '--key': key } : {};
  const all = { ...ofTls, '--user': user, '--password-file': passwordFile };
  return Object.entries(all).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
}

/** Returns whether the network between this machine and the server can read what is sent. */
export function isReadableOnNetwork({ url, socketPath }: ServerAddress): boolean {
  if (url.protocol !== 'http:' || socketPath !== undefined) return false;
  return !/^(127(\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\]|(.+\.)?localhost)$/.test(url.hostname);
}

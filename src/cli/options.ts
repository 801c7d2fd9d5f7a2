/** The flags that several commands share: what each may be, and in which words it is refused. */
import { isIPv6 } from 'node:net';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_DRAIN_INTERVAL_MS } from '../settings/environment.js';
import {
  type Naming,
  NAMINGS,
  NIXL_LABELS,
  NIXL_RELEASES,
  type NixlLabels,
  type NixlRelease,
} from '../mapping/index.js';

export interface ServingOptions {
  host: string;
  port: number;
  naming: Naming;
  nixlRelease?: NixlRelease;
  nixlLabels?: NixlLabels;
  page: 'on' | 'off';
  /** Milliseconds. */
  drainInterval?: number;
}

export const DEFAULT_HOST = '127.0.0.1';
/** Registered for OpenTelemetry's Prometheus exporter. */
export const DEFAULT_PORT = 9464;

export function addServingOptions(command: Command): Command {
  return command
    .option('--host <address>', 'address to serve on; 0.0.0.0 or :: for all', hostName, DEFAULT_HOST)
    .option('--port <number>', 'port to serve on; 0 takes any free one', wholeNumber(0, 65_535), DEFAULT_PORT)
    .addOption(
      new Option('--naming <names>', "nixl: the names of NIXL's own exporter; otel: dotted names, UCUM units")
        .choices(NAMINGS)
        .default('nixl'),
    )
    .addOption(
      new Option(
        '--nixl-release <release>',
        'NIXL release whose names and labels the series agent_* have; naming nixl',
      ).choices(NIXL_RELEASES),
    )
    .addOption(
      new Option(
        '--nixl-labels <exporter>',
        'exporter of NIXL whose labels the series agent_* have; naming nixl',
      ).choices(NIXL_LABELS),
    )
    .addOption(new Option('--page <on-or-off>', 'the live page for browsers at /').choices(['on', 'off']).default('on'))
    .option(
      '--drain-interval <ms>',
      `empty the rings this often (default: ${DEFAULT_DRAIN_INTERVAL_MS})`,
      wholeNumber(1, 10_000),
    );
}

export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
  return (text) => {
    const value = Number(text);
    // Number() would also take '', ' 7', '0x10' and '1e3'.
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Allowed: a whole number, ${range}.`);
  };
}

export function notEmpty(what: string): (text: string) => string {
  return (text) => {
    if (text !== '' && !text.includes('\0')) return text;
    throw new InvalidArgumentError(`Allowed: ${what}.`);
  };
}

/** Accepts an IPv6 address in brackets, as in a URL, and returns it without them. */
export function hostName(text: string): string {
  const [, address] = /^\[(.*)\]$/.exec(text) ?? [];
  if (address !== undefined && isIPv6(address)) return address;
  const isPlain = text !== '' && (isIPv6(text) || /^[^\s\0:/[\]@?#]+$/.test(text));
  if (isPlain) return text;
  throw new InvalidArgumentError('Allowed: an address or a host name, without a port; IPv6 with or without brackets.');
}

export function oneOf<T extends string>(allowed: readonly T[]): (text: string) => T {
  return (text) => {
    if (allowed.includes(text as T)) return text as T;
    throw new InvalidArgumentError(`Allowed: ${allowed.join(', ')}.`);
  };
}

/** For a flag that may be given several times. */
export function listOf<T>(one: (text: string) => T): (text: string, before?: T[]) => T[] {
  return (text, before = []) => [...before, one(text)];
}

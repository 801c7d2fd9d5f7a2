/** NIXL's own variables, with NIXL's meaning, as far as they are more than one setting's value. */
import { InvalidArgumentError } from 'commander';
import type { Environment } from '../../settings/environment.js';
import { reasonOf } from '../../errors.js';

/** Where NIXL's Prometheus exporters listen by default, on all addresses. */
export const NIXL_PORT = 9090;

const ON = ['y', 'yes', 'on', 'true', 'enable', '1'];
const OFF = ['n', 'no', 'off', 'false', 'disable', '0'];

/** @throws InvalidArgumentError */
export function onOrOff(text: string): boolean {
  const word = text.toLowerCase();
  if (ON.includes(word)) return true;
  if (OFF.includes(word)) return false;
  throw new InvalidArgumentError(`Allowed: ${[...ON, ...OFF].join(', ')}.`);
}

export interface NixlExporter {
  readonly kind: 'buffer' | 'prometheus' | 'otlp' | 'console' | 'none' | 'other';
  readonly exporters: readonly string[];
}

/**
 * What NIXL_TELEMETRY_EXPORTER comes to here. Undefined: it is not set.
 * @throws InvalidArgumentError for an exporter that this package cannot stand in for.
 */
export function nixlExporter(environment: Environment): NixlExporter | undefined {
  const name = environment['NIXL_TELEMETRY_EXPORTER'];
  if (name === undefined || name === '') return undefined;
  switch (name.toLowerCase()) {
    case 'buffer':
      return { kind: 'buffer', exporters: ['prometheus'] };
    case 'prometheus':
    case 'prometheus_mp':
      return { kind: 'prometheus', exporters: ['prometheus'] };
    case 'otlp':
      return { kind: 'otlp', exporters: ['otlp'] };
    case 'console':
      return { kind: 'console', exporters: ['console'] };
    case 'nop':
      return { kind: 'none', exporters: ['none'] };
    case 'doca':
      throw new InvalidArgumentError(
        'DOCA is not among the exporters here: use prometheus, otlp or console, or a module of your own.',
      );
    default:
      return { kind: 'other', exporters: [name] };
  }
}

/**
 * Why there is nothing to do, in words; undefined when there is.
 * @throws InvalidArgumentError
 */
export function switchedOff(environment: Environment): string | undefined {
  if (sdkDisabled(environment) === 'true') return 'OTEL_SDK_DISABLED is true: nothing is read or exported';
  const enable = environment['NIXL_TELEMETRY_ENABLE'] ?? '';
  try {
    if (enable !== '' && !onOrOff(enable)) {
      return `NIXL_TELEMETRY_ENABLE is ${enable}: nothing is read or exported`;
    }
  } catch (error) {
    throw new InvalidArgumentError(`NIXL_TELEMETRY_ENABLE is '${enable}'. ${reasonOf(error)}`);
  }
  return undefined;
}

/** Returns a warning of a variable that looks like a switch but is none. */
export function switchWarning(environment: Environment): string | undefined {
  const disabled = sdkDisabled(environment);
  if (['', 'true', 'false'].includes(disabled)) return undefined;
  return `OTEL_SDK_DISABLED is '${environment['OTEL_SDK_DISABLED']}', which does not switch serve off: by OpenTelemetry's specification only true does`;
}

function sdkDisabled(environment: Environment): string {
  return (environment['OTEL_SDK_DISABLED'] ?? '').trim().toLowerCase();
}

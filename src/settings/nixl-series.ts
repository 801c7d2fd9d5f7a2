/** The options nixlRelease and nixlLabels: allowed values, defaults, and conflicts with other options. */
import type { DiagLogger } from '@opentelemetry/api';
import {
  type AttributeSpec,
  type CustomEvent,
  DEFAULT_NIXL_LABELS,
  DEFAULT_NIXL_RELEASE,
  hasErrors,
  isCustomError,
  type Naming,
  NIXL_LABELS,
  NIXL_RELEASES,
  type NixlLabels,
  type NixlRelease,
  takenNixlLabel,
} from '../mapping/index.js';
import type { NixlOptions } from './options.js';
import { type Problem, type Shape, word } from './shape.js';

const releases = word(NIXL_RELEASES);

/** YAML reads 1.0 as the number 1, so the message about a number asks for quotes. */
export const NIXL_RELEASE: Shape = {
  ...releases,
  problems(given, path = []) {
    if (typeof given !== 'number') return releases.problems(given, path);
    return [{ path, text: `is the number ${given}; allowed: a string, so put it in quotes: ${releases.allowed}` }];
  },
};
export const NIXL_LABELS_SHAPE: Shape = word(NIXL_LABELS);

/** Refuses attributes with the name of a label: a series cannot have a label twice. */
export function labelProblems({ naming, nixlLabels, attributes = [] }: NixlOptions): Problem[] {
  if (naming === 'otel' || nixlLabels === undefined) return [];
  return attributes.flatMap(({ name }: AttributeSpec, i) => {
    const label = takenNixlLabel(nixlLabels, name);
    if (label === undefined) return [];
    const text = `is ${name}, but nixlLabels is ${nixlLabels}, which has the label ${label}: give the attribute another name, or set nixlLabels to prometheus`;
    return [{ path: ['attributes', i, 'name'], text }];
  });
}

export interface NixlSeries {
  readonly naming: Naming;
  readonly nixlRelease: NixlRelease;
  readonly nixlLabels: NixlLabels;
  readonly customEvents: readonly CustomEvent[];
  /** Undefined: the default ones, `nixl` among them, which makes the series. */
  readonly builders: readonly unknown[] | undefined;
}

export function warnOfNixlSeries(settings: NixlSeries, logger: Pick<DiagLogger, 'warn'>): void {
  for (const warning of warnings(settings)) logger.warn(warning);
}

function warnings({ naming, nixlRelease, nixlLabels, customEvents, builders }: NixlSeries): string[] {
  const unusual = [
    ...(nixlRelease === DEFAULT_NIXL_RELEASE ? [] : [`nixlRelease ${nixlRelease}`]),
    ...(nixlLabels === DEFAULT_NIXL_LABELS ? [] : [`nixlLabels ${nixlLabels}`]),
  ];
  if (naming === 'otel') return unusual.map((one) => `${one} has no effect in naming otel`);
  if (builders?.includes('nixl') === false)
    return unusual.map((one) => `${one} has no effect without the builder nixl`);
  const errors = customEvents.filter(isCustomError).map(({ status }) => status);
  if (errors.length === 0 || hasErrors(nixlRelease)) return [];
  return [
    `customEvents: errors ${errors.join(', ')} are counted in nixl.events only: nixlRelease ${nixlRelease} has no agent_errors_total`,
  ];
}

/** Applies the defaults. */
export function nixlSeriesOf(options: NixlOptions): Pick<NixlSeries, 'nixlRelease' | 'nixlLabels'> {
  const { nixlRelease = DEFAULT_NIXL_RELEASE, nixlLabels = DEFAULT_NIXL_LABELS } = options;
  return { nixlRelease, nixlLabels };
}

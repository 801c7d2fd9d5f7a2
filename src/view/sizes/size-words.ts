/** Words about time by size, the same on page, screen and list. Pure; the live page uses this module, too. */
import {
  binaryText,
  bytesRateText,
  numberText,
  percent,
  plural,
  stepText,
  timeText,
} from '../../ground/figures/figure.js';
import type { JsonBound } from './direction-sizes.js';
import { FEW_TRANSFERS, type SizeFigures } from './size-figures.js';
import type { NoLineReason, TimeLine, TimeModel } from './time-line.js';

/** Headings of the two parts of a line, and of the median post. */
export const LINE_HEADINGS = { base: 'Base', posting: 'of it posting', rate: 'At most' } as const;

/** Meaning of the headings. */
export const LINE_HELP =
  'Base: time that does not depend on the size, with the part that posting takes. At most: the rate that large transfers approach. ' +
  'Both are fitted to the medians of the size classes, as the application saw them: a transfer ends when the application asks ' +
  'for its state, and base includes that wait.';

const NO_LINE: Readonly<Record<NoLineReason, string>> = {
  'few-classes': 'too few sizes',
  narrow: 'sizes too close together',
  scattered: 'no line fits',
};

/** Multiples closer to 1 are noise: of twenty transfers in each class, medians of alike agents can differ by that. */
const ALIKE = 1.5;

/** As `boundOf`, whose module would bring the model of time along into the browser. */
export function boundIn({ upToBytes }: { readonly upToBytes: JsonBound }): number {
  return upToBytes ?? Infinity;
}

/** `4 KiB`, `over 1 GiB` */
export function sizeClassText(upToBytes: number): string {
  return upToBytes === Infinity ? `over ${binaryText(2 ** 30)}` : binaryText(upToBytes);
}

/** `19 µs + size ÷ 480 MB/s`; without a part that is unknown. */
export function timeLineText({ baseUs, bytesPerSecond }: TimeLine): string {
  if (bytesPerSecond === undefined) return `${timeText(baseUs)} at any size`;
  const growing = `size ÷ ${bytesRateText(bytesPerSecond)}`;
  return baseUs === undefined ? growing : `${timeText(baseUs)} + ${growing}`;
}

/** For a cell: `19 µs`, or why it is unknown; empty where the cell of the rate has the reason. */
export function baseText(model: TimeModel): string {
  if (model.kind !== 'line') return '';
  return model.baseUs === undefined ? 'too short to tell' : timeText(model.baseUs);
}

/** For a cell: `480 MB/s`, or why it is unknown. */
export function largestRateText(model: TimeModel): string {
  if (model.kind === 'bends')
    return `no line: bends ${model.atBytes === null ? sizeClassText(Infinity) : `at ${sizeClassText(model.atBytes)}`}`;
  if (model.kind === 'none') return NO_LINE[model.reason];
  return model.bytesPerSecond === undefined ? 'same time at any size' : bytesRateText(model.bytesPerSecond);
}

/** A sentence about an agent's line: `19 µs + size ÷ 20 GB/s (41 % of its ports' rate), as the application saw it`. */
export function timeModelText(model: TimeModel, portShare?: number): string {
  if (model.kind !== 'line') return largestRateText(model);
  const share = portShare === undefined ? '' : ` (${percent(portShare)} of its ports' rate)`;
  return `${timeLineText(model)}${share}, as the application saw it`;
}

export function isAlike(multiple: number): boolean {
  return multiple < ALIKE && multiple > 1 / ALIKE;
}

/** For a cell: `=`, `×7.0`, `×38`, `×0.4` */
export function multipleText(multiple: number): string {
  return isAlike(multiple) ? '=' : `×${numberOfTimes(multiple)}`;
}

/** `7.0 times its peers`, `as its peers` */
export function againstText(multiple: number, reference: string): string {
  return isAlike(multiple) ? `as ${reference}` : `${numberOfTimes(multiple)} times ${reference}`;
}

function numberOfTimes(multiple: number): string {
  return multiple >= 0.1 && multiple < 9.95 ? stepText(multiple, 0.1) : numberText(multiple);
}

/** Text of a pale cell: `12 transfers, fewer than 20`. */
export function fewText({ transfers }: Pick<SizeFigures, 'transfers'>): string {
  return `${plural(transfers, 'transfer')}, fewer than ${FEW_TRANSFERS}`;
}

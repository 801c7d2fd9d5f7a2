/** Events of a test, as the slots that an agent would write. */
import { check, invalid, isObject, isText, shown, u64, wholeNumberArgument } from '../ground/arguments.js';
import { Category, CATEGORY_TERMS, type CategoryTerm, EVENTS, type EventRow } from '../mapping/index.js';
import type { WriteEvent } from '../shm-bridge/index.js';

/** A completed transfer. */
export interface TestTransfer {
  readonly bytes: bigint | number;
  /** Time from start to completion, microseconds. */
  readonly timeUs: bigint | number;
  /** Time to post, microseconds; default 0. */
  readonly postUs?: bigint | number;
  /** `tx`: the agent wrote the bytes, the default. `rx`: it read them. */
  readonly direction?: 'tx' | 'rx';
}

/** A failed operation. */
export interface TestError {
  /** NIXL's status, such as `backend` or `remote_disconnect`. */
  readonly error: string;
}

/** Any other event. */
export interface TestReading {
  /** Name such as `agent_memory_registered`, or a type number. Names that NIXL does not have need wire version 1. */
  readonly event: string | number;
  readonly value: bigint | number;
  /** Category of a name that NIXL does not have; default CUSTOM. */
  readonly category?: CategoryTerm;
}

export type TestEvent = TestTransfer | TestError | TestReading;

const ROWS: ReadonlyMap<string | number, EventRow> = new Map(
  EVENTS.flatMap((row): [string | number, EventRow][] => [
    [row.type, row],
    [row.event, row],
  ]),
);
const STATUSES = EVENTS.filter(({ category }) => category === Category.ERROR).map(({ event }) =>
  event.slice('agent_err_'.length),
);
const KINDS: readonly (readonly (keyof TestTransfer | keyof TestError | keyof TestReading)[])[] = [
  ['bytes', 'timeUs', 'postUs', 'direction'],
  ['error'],
  ['event', 'value', 'category'],
];
/** A name fills at most this many bytes of a slot of wire version 1. */
const MOST_NAME_BYTES = 31;

/**
 * Returns the contents of the slots that an agent would write, in its order. `name`: name of the event in messages.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function slotsOf(name: string, event: TestEvent, wireVersion: number): WriteEvent[] {
  const keys = isObject(event) ? Object.keys(event) : [];
  const fits = KINDS.some((kind) => keys.includes(kind[0]!) && keys.every((key) => kind.some((one) => one === key)));
  check(fits, name, event, 'an object with bytes and timeUs, or with error, or with event and value');
  if ('bytes' in event) return transferSlots(name, event, wireVersion);
  if ('error' in event) {
    const { error } = event;
    if (!STATUSES.includes(error)) check(false, `${name}.error`, error, STATUSES.join(', '));
    return [slot(`agent_err_${error}`, 1n, wireVersion)];
  }
  return [readingSlot(name, event, wireVersion)];
}

function transferSlots(name: string, transfer: TestTransfer, wireVersion: number): WriteEvent[] {
  const { bytes, timeUs, postUs = 0, direction = 'tx' } = transfer;
  check(direction === 'tx' || direction === 'rx', `${name}.direction`, direction, 'tx, rx');
  const readings: [string, bigint][] = [
    ['agent_xfer_post_time', u64(`${name}.postUs`, postUs)],
    ['agent_xfer_time', u64(`${name}.timeUs`, timeUs)],
    [`agent_${direction}_bytes`, u64(`${name}.bytes`, bytes)],
    [`agent_${direction}_requests_num`, 1n],
  ];
  return readings.map(([event, value]) => slot(event, value, wireVersion));
}

function readingSlot(name: string, { event, value: given, category }: TestReading, wireVersion: number): WriteEvent {
  const value = u64(`${name}.value`, given);
  const isKnown = ROWS.has(event);
  if (category !== undefined && (isKnown || wireVersion !== 1)) {
    const allowed = 'only names that NIXL does not have take one, with wireVersion 1';
    throw invalid(`${name}.category is ${shown(category)}; ${allowed}`);
  }
  if (isKnown) return slot(event, value, wireVersion);
  if (wireVersion === 1) return namedSlot(name, event, value, category);
  const allowed = `event names and type numbers of NIXL; wireVersion 1 has other names, too`;
  check(typeof event === 'number', `${name}.event`, event, allowed);
  return { type: wholeNumberArgument(`${name}.event`, event, 0, 2 ** 32 - 1), value };
}

function namedSlot(name: string, event: string | number, value: bigint, category: CategoryTerm = 'CUSTOM'): WriteEvent {
  const isName = isText(event) && Buffer.byteLength(event) <= MOST_NAME_BYTES;
  check(isName, `${name}.event`, event, `names of at most ${MOST_NAME_BYTES} bytes`);
  check(CATEGORY_TERMS.includes(category), `${name}.category`, category, CATEGORY_TERMS.join(', '));
  return { name: event as string, category: Category[category], value };
}

/** `event`: name or number in the event table. */
function slot(event: string | number, value: bigint, wireVersion: number): WriteEvent {
  const row = ROWS.get(event)!;
  if (wireVersion === 1) return { name: row.wireVersion1Name ?? row.event, category: row.category, value };
  return { type: row.type, category: row.category, value };
}

/** Rings with realistic transfers, written by the public RingWriter. */
import path from 'node:path';
import { EVENTS as TABLE } from '../../dist/mapping/index.js';
import { RingWriter } from '../../dist/rings.js';

const EVENTS = [
  { name: 'agent_tx_bytes', category: 1 },
  { name: 'agent_rx_bytes', category: 1 },
  { name: 'agent_tx_requests_num', category: 1 },
  { name: 'agent_rx_requests_num', category: 1 },
  { name: 'agent_memory_registered', category: 0 },
  { name: 'agent_memory_deregistered', category: 0 },
  { name: 'agent_xfer_time', category: 5 },
  { name: 'agent_xfer_post_time', category: 5 },
];
const EVERY_TYPE = TABLE.map(({ type }) => type);
const STARTED_US = 1_700_000_000_000_000;

/** Generator of the same numbers in each run, above 0 and up to 1. */
export function randomNumbers(state = 1) {
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 1) / 2 ** 32;
  };
}

/** Log-normal number, like sizes and times of transfers. */
export function spread(random, median, sigma) {
  const normal = Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
  return Math.ceil(median * Math.exp(sigma * normal));
}

/** Pushes the four events of `count / 4` finished transfers. */
export function pushTransfers(writer, count, seed = 1) {
  const random = randomNumbers(seed);
  const push = (type, value, i) =>
    writer.push({ type, ...EVENTS[type], value, timestampUs: BigInt(STARTED_US + 25 * i) });
  for (let i = 0; i + 4 <= count; i += 4) {
    const read = random() < 0.25 ? 1 : 0;
    const us = spread(random, 400, 1.5);
    push(7, Math.ceil(us / 10), i);
    push(6, us, i + 1);
    push(read, spread(random, 440_000, 2), i + 2);
    push(2 + read, 1, i + 3);
  }
}

/** Moves every series that events can move: all types, and the lowest bucket of each histogram, thus all above it. */
export function moveAll(writer) {
  const assembled = [7, 6, 0, 2, 7, 6, 1, 3]; // a write and a read of one byte in one microsecond
  const others = EVERY_TYPE.filter((type) => !assembled.includes(type));
  for (const type of [...others, ...assembled]) writer.push({ type, value: 1 });
}

/** Fills a ring with whole transfers. @returns the number of events. */
export function fullRing(file, wireVersion, capacity) {
  const writer = new RingWriter(file, { wireVersion, capacity });
  pushTransfers(writer, capacity - 1);
  const { pending } = writer;
  writer.close();
  return pending;
}

/** Makes small rings of agents, with some transfers in each. Closing the writers ends the agents. */
export function writersIn(directory, agents) {
  return Array.from({ length: agents }, (_, i) => {
    const writer = new RingWriter(path.join(directory, `agent-${i}`), { wireVersion: 4, capacity: 512 });
    pushTransfers(writer, 400, i + 1);
    return writer;
  });
}

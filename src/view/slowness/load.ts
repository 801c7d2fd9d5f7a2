/** Whether more transfers at once explain slower ones. Pure. */
import type { TimeWindow } from './block-sums.js';
import type { Usual } from './usual-times.js';

/** Load that is worth a comparison. */
const RISE = 1.5;
/** A flush has so many more transfers, on average, if as many more are open: half of them each, at both ends. */
const FLUSH_FACTOR = 3.4;
/** Agents that share a link slow down alike. */
const ALIKE = 2;

/** What moves on a link, bytes per second. */
export interface CarriedBytes {
  readonly now: number;
  readonly usual: number;
  /** What it can carry: that of the fastest usual transfer. */
  readonly most: number;
}

/** An agent of the host and direction, at this time. */
export interface Peer {
  readonly carried: CarriedBytes;
  /** How many times as long its transfers take. */
  readonly factor: number;
}

export function carriedBy(window: TimeWindow, usual: Usual): CarriedBytes {
  const seconds = Math.max(1000, window.endMs - window.beginMs) / 1000;
  const rates = usual.classes.map(({ meanBytes, p10 }) => (meanBytes * 1e6) / Math.max(1, p10));
  return { now: window.bytes / seconds, usual: usual.bytesPerSecond, most: Math.max(0, ...rates) };
}

interface Slowness {
  readonly factor: number;
  readonly theta: number;
}

export function isBusy(window: TimeWindow, usual: Usual, peersOf: () => readonly Peer[], slowness: Slowness): boolean {
  const { factor } = slowness;
  const own = carriedBy(window, usual);
  const peers = peersOf();
  const slowed = peers.filter((peer) => peer.factor <= factor * ALIKE && peer.factor >= factor / ALIKE);
  const sharing = 2 * slowed.length >= peers.length ? peers : [];
  if (carriesAll(together(own, sharing), slowness)) return true;
  const more = window.flushSize / Math.max(1, usual.flushSize);
  return more >= RISE && factor / more < FLUSH_FACTOR;
}

/** The link carries more than usual, and what it carries, with what a slow transfer gets of it, is what it can carry. */
function carriesAll({ now, usual, most }: CarriedBytes, { factor, theta }: Slowness): boolean {
  return now >= RISE * usual && now + most / factor >= most / theta;
}

function together(own: CarriedBytes, peers: readonly Peer[]): CarriedBytes {
  const all = [own, ...peers.map(({ carried }) => carried)];
  return {
    now: all.reduce((sum, { now }) => sum + now, 0),
    usual: all.reduce((sum, { usual }) => sum + usual, 0),
    most: Math.max(...all.map(({ most }) => most)),
  };
}

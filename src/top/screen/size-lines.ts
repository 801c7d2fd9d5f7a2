/** Time by size of one agent: its classes with strips of their distributions, and its line. Pure. */
import { bucketMiddle, type ExponentialTally, highestValue, lowestValue } from '../../ground/exponential.js';
import { spanText } from '../../ground/figures/clock.js';
import { numberText, timeText } from '../../ground/figures/figure.js';
import { boundOf, type DirectionSizes, type RecentClass } from '../../view/sizes/direction-sizes.js';
import { multipleText, sizeClassText, timeLineText, timeModelText } from '../../view/sizes/size-words.js';
import type { TopSizes } from '../sizes.js';
import { sparkline } from './graph.js';
import { cutText, type Line, piece } from './line.js';

const LABEL = 11;
const COUNT = 10;
const TIME = 10;
const PEERS = 6;
/** Shorter strips show nothing. */
const LEAST_STRIP = 6;

/** `lastMinute`: shows the window, not all so far. */
export function sizeClassLines(
  id: string,
  sizes: TopSizes | undefined,
  lastMinute: boolean,
  width: number,
  unicode: boolean,
): Line[] {
  if (sizes === undefined) return [];
  const title = piece('  TIME BY SIZE', 'bold');
  if (sizes.missing.length > 0) return [[title], ...sizes.missing.map((text) => textLine(text, width))];
  const of = sizes.agents.get(id);
  const moving = (['tx', 'rx'] as const).filter((direction) => (of?.[direction].classes.length ?? 0) > 0);
  if (of === undefined || moving.length === 0) return [];
  const since = lastMinute ? `last ${spanText(sizes.recentMs, Math.round)}` : 'all so far';
  return moving.flatMap((direction) => {
    const classes: readonly RecentClass[] = lastMinute ? of[direction].recent : of[direction].classes;
    const head = [title, piece(` ${direction}`, direction), piece(`, ${since}`, 'dim')];
    return [head, ...classLines(classes, width, unicode), ...modelLines(of[direction], width)];
  });
}

function classLines(classes: readonly RecentClass[], width: number, unicode: boolean): Line[] {
  if (classes.length === 0) return [[piece('  no transfers', 'dim')]];
  const hasPeers = classes.some(({ againstPeers }) => againstPeers !== undefined);
  const rest = width - LABEL - COUNT - 3 * TIME - (hasPeers ? PEERS : 0) - 2;
  const strips = rest >= LEAST_STRIP ? stripsOf(classes, rest, unicode) : [];
  const peers = hasPeers ? 'PEERS'.padStart(PEERS) : '';
  const heads = ['P50', 'P99', 'POST'].map((text) => text.padStart(TIME)).join('');
  return [
    [piece(`${'UP TO'.padStart(LABEL)}${'TRANSFERS'.padStart(COUNT)}${heads}${peers}`, 'dim')],
    ...classes.map((one, i): Line => {
      const { upToBytes, transfers, p50Us, p99Us, postP50Us, few, againstPeers } = one;
      const times = [few ? `(${timeText(p50Us)})` : timeText(p50Us), timeText(p99Us), timeText(postP50Us)];
      const multiple = againstPeers === undefined ? '' : multipleText(againstPeers);
      return [
        piece(sizeClassText(boundOf(upToBytes)).padStart(LABEL)),
        piece(numberText(transfers).padStart(COUNT)),
        piece(times.map((text) => text.padStart(TIME)).join(''), few ? 'dim' : 'plain'),
        piece(hasPeers ? multiple.padStart(PEERS) : ''),
        piece(strips[i] === undefined ? '' : `  ${strips[i]}`, 'p99'),
      ];
    }),
  ];
}

function modelLines({ model, portShare, peersModel }: DirectionSizes, width: number): Line[] {
  const lines = [textLine(timeModelText(model, portShare), width)];
  return peersModel?.kind === 'line' ? [...lines, textLine(`peers: ${timeLineText(peersModel)}`, width)] : lines;
}

function textLine(text: string, width: number): Line {
  return [piece(`  ${cutText(text, Math.max(0, width - 2))}`)];
}

/** Strips of all classes on one logarithmic scale of time, each as high as its most frequent times. */
function stripsOf(classes: readonly RecentClass[], columns: number, unicode: boolean): (string | undefined)[] {
  const known = classes.flatMap(({ timesUs }) => timesUs ?? []);
  if (known.length === 0) return [];
  const least = Math.max(1, Math.min(...known.map((tally) => lowestValue(tally) ?? Infinity)));
  const most = Math.max(2 * least, ...known.map((tally) => highestValue(tally) ?? 0));
  const placeOf = (us: number): number => {
    const share = Math.log(Math.max(least, us) / least) / Math.log(most / least);
    return Math.min(columns - 1, Math.floor(share * columns));
  };
  return classes.map(({ timesUs }) => timesUs && stripOf(timesUs, placeOf, columns, unicode));
}

function stripOf(tally: ExponentialTally, placeOf: (us: number) => number, columns: number, unicode: boolean): string {
  const counts = new Array<number>(columns).fill(0);
  if (tally.zeroCount > 0) counts[0] = tally.zeroCount;
  for (let i = 0; i < tally.counts.length; i++) {
    counts[placeOf(bucketMiddle(tally, tally.offset + i))]! += tally.counts[i]!;
  }
  return sparkline(counts, Math.max(...counts), unicode);
}

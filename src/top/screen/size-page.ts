/** Time by size of all agents: agents by size classes. Pure. */
import { oneLine } from '../../ground/one-line.js';
import { spanText } from '../../ground/figures/clock.js';
import { bytesRateText, plural, timeText, UNKNOWN } from '../../ground/figures/figure.js';
import { fit } from '../../view/figures/table.js';
import { boundOf, type DirectionSizes, type RecentClass } from '../../view/sizes/direction-sizes.js';
import {
  baseText,
  isAlike,
  largestRateText,
  LINE_HEADINGS,
  multipleText,
  sizeClassText,
} from '../../view/sizes/size-words.js';
import { fullNameOf } from '../selection.js';
import type { SizesOfAgent, TopSizes } from '../sizes.js';
import type { TopRow } from '../tracker.js';
import type { SizeMeasure } from './keys.js';
import { blank, edgeToEdge, type Line, type Piece, piece, type Style, terminalColumns } from './line.js';
import { nameLine, sharedStems } from './names.js';

const DIRECTIONS = ['tx', 'rx'] as const;

interface ShownMeasure {
  readonly title: string;
  readonly about: string;
  /** Columns of a cell. */
  readonly width: number;
  readonly cell: (of: RecentClass) => Piece;
}

/** A much slower class: its multiple is red. */
const MUCH = 3;
/** Cells of few transfers: their numbers say little. */
const FEW = 'few';

const MEASURES: Readonly<Record<SizeMeasure, ShownMeasure>> = {
  peers: {
    title: 'against peers',
    about: "medians ÷ fastest quarter's; -: too few",
    width: 8,
    cell: ({ againstPeers, few }) => multipleCell(againstPeers, few),
  },
  earlier: {
    title: 'against earlier',
    about: "medians ÷ the agent's own before; -: too few",
    width: 8,
    cell: ({ againstEarlier, few }) => multipleCell(againstEarlier, few),
  },
  time: {
    title: 'time',
    about: 'medians; (): fewer than 20 transfers',
    width: 10,
    cell: ({ p50Us, few }) => figureCell(timeText(p50Us), few),
  },
  rate: {
    title: 'rate',
    about: 'bytes ÷ time in a transfer; (): few',
    width: 12,
    cell: ({ bytesPerSecond, few }) => figureCell(bytesRateText(bytesPerSecond), few),
  },
};

function multipleCell(multiple: number | undefined, few: boolean): Piece {
  if (multiple === undefined) return piece(few ? FEW : UNKNOWN, 'dim');
  const style: Style = isAlike(multiple) ? 'dim' : multiple < 1 ? 'plain' : multiple >= MUCH ? 'bad' : 'warn';
  return piece(multipleText(multiple), style);
}

function figureCell(text: string, few: boolean): Piece {
  return few ? piece(`(${text})`, 'dim') : piece(text);
}

const DIRECTION = 4;
const LEAST_NAME = 8;
/** Columns of base and of its post. */
const PART = 8;
/** Columns of the rate: a reason for none needs more. */
const RATE = { wide: 25, narrow: 10 };
const WIDE_FROM = 120;

interface SizeLayout {
  readonly measure: ShownMeasure;
  /** Bounds of the shown classes. */
  readonly bounds: readonly number[];
  /** Number of the other classes. */
  readonly hidden: number;
  readonly nameWidth: number;
  readonly rateWidth: number;
}

export interface SizePage {
  /** Title and headings. */
  readonly fixed: readonly Line[];
  /** Lines of each agent, in the order of the rows. */
  readonly agents: readonly (readonly Line[])[];
}

export function sizePage(rows: readonly TopRow[], sizes: TopSizes, measure: SizeMeasure, columns: number): SizePage {
  const layout = layoutFor(rows, sizes, MEASURES[measure], columns);
  const names = rows.map((row) => oneLine(fullNameOf(row)));
  const stems = sharedStems(names);
  const agents = rows.map(({ agent }, i) =>
    agentLines(nameLine(names[i]!, layout.nameWidth, stems), sizes.agents.get(agent.id), layout),
  );
  return { fixed: [titleLine(layout, sizes, columns), headingLine(layout)], agents };
}

function layoutFor(rows: readonly TopRow[], sizes: TopSizes, measure: ShownMeasure, columns: number): SizeLayout {
  const rateWidth = columns >= WIDE_FROM ? RATE.wide : RATE.narrow;
  const counts = new Map<number, number>();
  for (const one of rows.flatMap(({ agent: { id } }) =>
    DIRECTIONS.flatMap((of) => shownClasses(sizes.agents.get(id)?.[of])),
  )) {
    const bound = boundOf(one.upToBytes);
    counts.set(bound, (counts.get(bound) ?? 0) + one.transfers);
  }
  const longest = Math.max(LEAST_NAME, ...rows.map((row) => terminalColumns(oneLine(fullNameOf(row)))));
  const others = DIRECTION + 2 * PART + rateWidth;
  const wanted = [...counts].sort(([, a], [, b]) => b - a).map(([bound]) => bound);
  const most = Math.max(1, Math.floor((columns - others - Math.min(longest, 2 * LEAST_NAME)) / measure.width));
  const bounds = wanted.slice(0, most).sort((a, b) => a - b);
  const nameWidth = Math.max(LEAST_NAME, Math.min(longest, columns - others - bounds.length * measure.width));
  return { measure, bounds, hidden: wanted.length - bounds.length, nameWidth, rateWidth };
}

/** Classes of the window, or of all so far if it has none. */
function shownClasses(of: DirectionSizes | undefined): readonly RecentClass[] {
  if (of === undefined) return [];
  return of.recent.length > 0 ? of.recent : of.classes;
}

function titleLine({ measure, hidden }: SizeLayout, { recentMs }: TopSizes, columns: number): Line {
  const more = hidden > 0 ? `+${plural(hidden, 'rarer size')}  ` : '';
  const left = [piece('TIME BY SIZE  ', 'bold'), piece(measure.title, 'info'), piece(`  ${measure.about}`, 'dim')];
  return edgeToEdge(left, [piece(`${more}last ${spanText(recentMs, Math.round)}`, 'dim')], columns);
}

function headingLine({ measure, bounds, nameWidth, rateWidth }: SizeLayout): Line {
  const heads = bounds.map((bound) => fit(sizeClassText(bound).replace('over ', '>'), measure.width, 'right'));
  const { base, rate } = LINE_HEADINGS;
  const parts = [base, 'post'].map((text) => text.toUpperCase().padStart(PART));
  const last = rateWidth === RATE.wide ? ` ${rate.toUpperCase()}` : rate.toUpperCase().padStart(rateWidth);
  return [
    piece(`${'AGENT'.padEnd(nameWidth)}${' '.repeat(DIRECTION)}${heads.join('')}${parts.join('')}${last}`, 'bold'),
  ];
}

function agentLines(name: Line, sizes: SizesOfAgent | undefined, layout: SizeLayout): Line[] {
  const moving = DIRECTIONS.filter((direction) => (sizes?.[direction].classes.length ?? 0) > 0);
  if (sizes === undefined || moving.length === 0) return [[...name, piece('  no transfers', 'dim')]];
  return moving.map((direction, i) => {
    const of = sizes[direction];
    const isRecent = of.recent.length > 0;
    const head = [
      ...(i === 0 ? name : [blank(layout.nameWidth)]),
      piece(` ${direction}`, direction),
      piece(isRecent ? ' ' : '*', 'dim'),
    ];
    return [...head, ...classCells(of, layout), ...modelCells(of, layout)];
  });
}

function classCells(of: DirectionSizes, { bounds, measure }: SizeLayout): Line {
  const classes = new Map(shownClasses(of).map((one) => [boundOf(one.upToBytes), one]));
  return bounds.map((bound) => {
    const one = classes.get(bound);
    if (one === undefined) return blank(measure.width);
    const { text, style } = measure.cell(one);
    return piece(text.padStart(measure.width), style);
  });
}

/** A reason for no line takes the columns of base and post where the last one is narrow. */
function modelCells({ model, posting }: DirectionSizes, { rateWidth }: SizeLayout): Line {
  const isLine = model.kind === 'line';
  const rate = largestRateText(model);
  if (rateWidth === RATE.narrow && !isLine) return [piece(fit(rate, 2 * PART + rateWidth, 'right'), 'dim')];
  const style: Style = isLine ? 'plain' : 'dim';
  const last = rateWidth === RATE.wide ? ` ${rate}` : rate.padStart(rateWidth);
  return [
    piece(baseText(model).padStart(PART), style),
    piece(timeText(posting?.p50Us).padStart(PART)),
    piece(last, style),
  ];
}

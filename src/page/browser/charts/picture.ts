/** Content of a chart at one moment, as data. */
import type { Column, HistoryAnswer } from '../../../view/answers/history-answer.js';
import type { Percentiles } from '../../../view/figures/percentiles.js';
import type { Window } from './window.js';
import type { Layer } from './layers.js';
import type { Scale, Tick } from './scales.js';

/** Values and words of the charts. */
export interface ChartsInput {
  readonly history: HistoryAnswer;
  readonly window: Window;
  readonly showsTop: boolean;
  readonly nameOf: (id: number) => string;
  /** The part of the shown span that the history covers: `5 min`. */
  readonly span: string;
  /** Transfer times of now; undefined in a time that is over. */
  readonly recent: Percentiles | undefined;
  readonly errorsSoFar: string;
}

/** A quantity over time, with its entry in the legend. */
export interface ChartLine {
  readonly label: string;
  /** Name of a colour in theme.css. */
  readonly colour: string;
  /** Name of the colour of its text, if the line's own is too light for text. */
  readonly labelColour?: string;
  /** One value for each time of the picture. */
  readonly values: Column;
  readonly text: (value: number | null) => string;
  /** In the legend without a cursor, in place of the newest value: one second says little. */
  readonly now?: number | undefined;
  readonly widthPx?: number;
  readonly isFilled?: boolean;
  /** Fills the area down to the line before this one. */
  readonly isBand?: boolean;
  /** Text at the end of the line. */
  readonly end?: string;
  /** Layers draw it: only the legend has it. */
  readonly isLegendOnly?: boolean;
  /** A name from outside, which may be long. */
  readonly isName?: boolean;
}

export interface ChartPicture {
  /** Positions on the horizontal axis: seconds since the epoch, or numbers of columns. */
  readonly times: readonly number[];
  readonly from: number;
  readonly to: number;
  /** Columns of the horizontal axis; absent for an axis of time. */
  readonly columns?: readonly Tick[];
  readonly scale: Scale;
  readonly lines: readonly ChartLine[];
  readonly layers?: readonly Layer[];
  /** Drawn over the lines. */
  readonly notes?: readonly Layer[];
  /** Beside the title, in place of the unit of the scale. */
  readonly unit?: string;
  /** Text at the right end of the title, for the point at this place, or for now. */
  readonly sum?: (at: number | undefined) => string;
  /** The legend explains the shades of a heatmap. */
  readonly hasShades?: boolean;
  /** In place of the legend. */
  readonly note?: string;
  /** Said in an empty plot. */
  readonly quiet?: Quiet | undefined;
}

export interface Quiet {
  readonly text: string;
  readonly isGood: boolean;
  /** Only the lower part of the plot is empty. */
  readonly isLower?: boolean;
}

/** Layers of a chart that are no lines: bars, cells, hatches, marks of events. */
import { colour, faded } from './colours.js';
import type { Sign } from './signs.js';
import type uPlot from './uplot.js';

/** Draws on the canvas of a plot, which is clipped to the plot's area. `px`: pixels of the canvas for one of CSS. */
export type Layer = (plot: uPlot, px: number) => void;

const HATCH_PX = 7;
const RIBBON_PX = 3;
const ROW_PX = 15;

function x(plot: uPlot, time: number): number {
  return plot.valToPos(time, 'x', true);
}

function y(plot: uPlot, value: number): number {
  return plot.valToPos(value, 'y', true);
}

/** Hatches the time from `from` to `to`: nothing was seen, or the numbers are too low. */
export function hatch(from: number, to: number, colourName: string): Layer {
  return (plot, px) => {
    const { ctx, bbox } = plot;
    const left = Math.max(bbox.left, x(plot, from));
    const right = Math.min(bbox.left + bbox.width, x(plot, to));
    if (right <= left) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, right - left, bbox.height);
    ctx.clip();
    ctx.beginPath();
    // Lines of all hatches lie on one grid, so that they do not move with the time.
    const step = HATCH_PX * px;
    for (let at = Math.floor(left / step) * step - bbox.height; at < right; at += step) {
      ctx.moveTo(at, bbox.top + bbox.height);
      ctx.lineTo(at + bbox.height, bbox.top);
    }
    ctx.strokeStyle = faded(colourName, 0.35);
    ctx.lineWidth = px;
    ctx.stroke();
    ctx.restore();
  };
}

/** Tints the time from `from` to `to`. */
export function wash(from: number, to: number, colourName: string): Layer {
  return (plot) => {
    const { ctx, bbox } = plot;
    const left = x(plot, from);
    ctx.fillStyle = faded(colourName, 0.1);
    ctx.fillRect(left, bbox.top, x(plot, to) - left, bbox.height);
  };
}

/** Marks a time by a band along the upper edge. */
export function ribbon([from, to]: readonly [from: number, to: number], colourName: string): Layer {
  return (plot, px) => {
    const { ctx, bbox } = plot;
    const left = Math.max(bbox.left, x(plot, from));
    const right = Math.min(bbox.left + bbox.width, Math.max(x(plot, to), left + RIBBON_PX * px));
    if (right <= left) return;
    ctx.fillStyle = colour(colourName);
    ctx.fillRect(left, bbox.top, right - left, RIBBON_PX * px);
  };
}

/** Marks a time by a dotted vertical, with a sign at its lower end. */
export function vertical(time: number, colourName: string, sign?: Sign): Layer {
  return (plot, px) => {
    const { ctx, bbox } = plot;
    const at = Math.round(x(plot, time)) + 0.5;
    if (at < bbox.left || at > bbox.left + bbox.width) return;
    ctx.save();
    ctx.strokeStyle = colour(colourName);
    ctx.lineWidth = 1.5 * px;
    ctx.setLineDash([2 * px, 3 * px]);
    ctx.beginPath();
    ctx.moveTo(at, bbox.top);
    ctx.lineTo(at, bbox.top + bbox.height);
    ctx.stroke();
    ctx.setLineDash([]);
    sign?.(ctx, px, at, bbox.top + bbox.height);
    ctx.restore();
  };
}

/** Writes beside the upper end of a vertical, on its left side if there is room. `row`: 0 at the top. */
export function beside(time: number, colourName: string, text: string, row: number): Layer {
  return (plot, px) => {
    const { ctx, bbox, axes } = plot;
    const at = x(plot, time);
    if (at < bbox.left || at > bbox.left + bbox.width) return;
    ctx.save();
    ctx.font = `600 ${fontOf(axes)}`;
    const isLeft = at - bbox.left > ctx.measureText(text).width + 8 * px;
    ctx.textAlign = isLeft ? 'right' : 'left';
    ctx.textBaseline = 'top';
    ctx.lineJoin = 'round';
    ctx.lineWidth = 5 * px;
    ctx.strokeStyle = colour('panel');
    const left = at + (isLeft ? -5 : 5) * px;
    const top = bbox.top + (RIBBON_PX + 1 + row * ROW_PX) * px;
    ctx.strokeText(text, left, top);
    ctx.fillStyle = colour(colourName);
    ctx.fillText(text, left, top);
    ctx.restore();
  };
}

/** Font of the axes in pixels of the canvas: uPlot replaces the option by it. */
export function fontOf(axes: readonly uPlot.Axis[]): string {
  return (axes[1]!.font as unknown as [string])[0];
}

/** A horizontal line at a value. */
export function threshold(value: number, colourName: string): Layer {
  return (plot, px) => {
    const { ctx, bbox } = plot;
    const at = Math.round(y(plot, value)) + 0.5;
    ctx.save();
    ctx.strokeStyle = colour(colourName);
    ctx.lineWidth = px;
    ctx.setLineDash([3 * px, 3 * px]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, at);
    ctx.lineTo(bbox.left + bbox.width, at);
    ctx.stroke();
    ctx.restore();
  };
}

/** From `low` to `high`, over the columns or seconds from `from` to `to`. */
interface Rectangle {
  readonly from: number;
  readonly to: number;
  readonly low: number;
  readonly high: number;
}

export interface Bar extends Rectangle {
  readonly colour: string;
}

/** Draws bars with a gap of a pixel between neighbours. A value above 0 has at least a pixel. */
export function bars(all: readonly Bar[]): Layer {
  return (plot, px) => {
    for (const { from, to, low, high, colour: name } of all) {
      const left = Math.round(x(plot, from) + px / 2);
      const right = Math.max(left + 1, Math.round(x(plot, to) - px / 2));
      const bottom = y(plot, low);
      const top = Math.min(y(plot, high), bottom - px);
      plot.ctx.fillStyle = colour(name);
      plot.ctx.fillRect(left, top, right - left, bottom - top);
    }
  };
}

/** Cells of a heatmap. `level`: 0 to 5. */
export interface Cell extends Rectangle {
  readonly level: number;
}

export function cells(all: readonly Cell[]): Layer {
  return (plot) => {
    const shades = heatShades();
    for (const { from, to, low, high, level } of all) {
      const left = Math.floor(x(plot, from));
      const top = Math.floor(y(plot, high));
      plot.ctx.fillStyle = shades[Math.round(level * STEPS_OF_LEVEL)]!;
      plot.ctx.fillRect(left, top, Math.ceil(x(plot, to)) - left, Math.ceil(y(plot, low)) - top);
    }
  };
}

const HEAT_COLOURS = 6;
const STEPS_OF_LEVEL = 16;

/** Returns colours from heat0 to heat5, in steps between each two of them. */
function heatShades(): string[] {
  const parts = Array.from({ length: HEAT_COLOURS }, (_, i) => partsOf(`heat${i}`));
  return Array.from({ length: (HEAT_COLOURS - 1) * STEPS_OF_LEVEL + 1 }, (_, step) => {
    const below = Math.min(HEAT_COLOURS - 2, Math.floor(step / STEPS_OF_LEVEL));
    const share = step / STEPS_OF_LEVEL - below;
    return `rgb(${parts[below]!.map((from, i) => Math.round(from + (parts[below + 1]![i]! - from) * share)).join()})`;
  });
}

/** Returns red, green and blue. */
function partsOf(name: string): number[] {
  return Array.from(colour(name).matchAll(/[\d.]+/g), ([part]) => Number(part));
}

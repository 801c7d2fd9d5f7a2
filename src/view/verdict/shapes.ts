/** Shapes and words of states. A state is never a colour alone. Pure; the live page uses this module, too. */
import type { AgentState } from '../model/agent-model.js';
import type { Finding, Level, MarkShape, Tone } from './types.js';

export interface ShapeText {
  readonly glyph: string;
  /** For terminals without other characters. */
  readonly ascii: string;
}

export const SHAPES: Readonly<Record<MarkShape, ShapeText>> = {
  tick: { glyph: '✓', ascii: '+' },
  ring: { glyph: '◌', ascii: '-' },
  clock: { glyph: '◷', ascii: '?' },
  triangle: { glyph: '▲', ascii: '!' },
  diamond: { glyph: '◆', ascii: '#' },
  cross: { glyph: '✕', ascii: 'x' },
  dot: { glyph: '●', ascii: '*' },
  circle: { glyph: '○', ascii: 'o' },
};

export interface StateText {
  readonly shape: MarkShape;
  readonly word: AgentState;
  /** `idle`: grey. */
  readonly tone: Tone | 'idle';
}

/** Problems first, in the order of their weight. */
export const STATES: Readonly<Record<AgentState, StateText>> = {
  incomplete: { shape: 'triangle', word: 'incomplete', tone: 'warn' },
  failing: { shape: 'diamond', word: 'failing', tone: 'bad' },
  slow: { shape: 'clock', word: 'slow', tone: 'warn' },
  ended: { shape: 'cross', word: 'ended', tone: 'idle' },
  unknown: { shape: 'ring', word: 'unknown', tone: 'idle' },
  live: { shape: 'dot', word: 'live', tone: 'ok' },
  idle: { shape: 'circle', word: 'idle', tone: 'idle' },
};

export function levelOf({ tone }: Pick<Finding, 'tone'>): Level {
  return tone === 'bad' || tone === 'warn' ? 'alarm' : 'note';
}

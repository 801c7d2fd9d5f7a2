/** One agent as JSON for the clipboard of the user's terminal, also across ssh. */
import { Buffer } from 'node:buffer';
import { printableJson } from '../../../one-line.js';
import { agentObject } from '../agent-object.js';
import type { AgentDetails } from '../sampler.js';
import type { Row } from '../tracker.js';

/** The console of Linux draws what it does not know. */
const WITHOUT_CLIPBOARD = new Set(['linux', 'dumb', 'vt100', 'vt220']);

/** Returns whether terminals of this kind may know the sequence of `clipboardSequence()`: a terminal cannot be asked. */
export function mayHaveClipboard(term = ''): boolean {
  return !WITHOUT_CLIPBOARD.has(term);
}

/** Asks the terminal to copy a text (OSC 52). Terminals without it ignore the sequence. */
export function clipboardSequence(text: string): string {
  return `\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`;
}

/** Returns the agent as `top --json` has it, with what else its detail shows. */
export function agentJson(row: Row, takenMs: number, details: AgentDetails = {}): string {
  const { errorsByStatus = {}, memoryBytes, capacity } = row.totals;
  const { txSizes, rxSizes, ...others } = details;
  const sizes = Object.entries({ txSizes, rxSizes }).map(([key, sizes]) => {
    return [key, sizes && { ...sizes, counts: Array.from(sizes.counts) }] as const;
  });
  const time = new Date(takenMs).toISOString();
  const more = { errorsByStatus, memoryBytes, capacity, ...others, ...Object.fromEntries(sizes) };
  return printableJson({ time, ...agentObject(row), ...more });
}

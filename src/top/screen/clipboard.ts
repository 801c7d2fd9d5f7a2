/** One agent as JSON for the clipboard of the user's terminal, also across ssh. */
import { Buffer } from 'node:buffer';
import { printableJson } from '../../ground/one-line.js';
import { agentObject } from '../agent-object.js';
import type { AgentModel } from '../../view/model/agent-model.js';
import { errorsByStatus } from '../sampler.js';
import type { TopRow } from '../tracker.js';

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

/** Facts that only the detail of an agent shows. */
const DETAILS = [
  ...(['path', 'wireVersion', 'ring', 'events', 'foundFull', 'foundFullMs', 'restarts', 'registeredBytes'] as const),
  ...(['uid', 'rank', 'gpuModels', 'attributes', 'txSizes', 'rxSizes'] as const),
];

/** Returns the agent as `top --json` has it, with what else its detail shows. */
export function agentJson(row: TopRow, takenMs: number, details: Partial<AgentModel> = {}): string {
  const { memoryBytes, capacity } = row.agent;
  const more = DETAILS.map((key) => {
    const value = details[key];
    const isCounts = typeof value === 'object' && 'counts' in value;
    return [key, isCounts ? { ...value, counts: Array.from(value.counts as ArrayLike<number>) } : value] as const;
  });
  const about = { errorsByStatus: errorsByStatus(row.agent), memoryBytes, capacity, ...Object.fromEntries(more) };
  return printableJson({ time: new Date(takenMs).toISOString(), ...agentObject(row), ...about });
}

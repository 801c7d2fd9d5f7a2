/**
 * Facts about an agent's process as text, which the agent's state file keeps: the next process of serve can no longer ask a
 * process that has ended. The text comes from a file that its user may change, so each field is checked.
 */
import { isObject } from '../../ground/arguments.js';
import type { ProcessFacts } from '../../mapping/index.js';
import { MOST_ATTRIBUTE_BYTES } from '../../ground/source-limits.js';
import { parsedJson } from '../../ground/errors.js';

const VERSION = 1;
/** Highest pid of Linux. */
const MAX_PID = 2 ** 22;

/** Without what follows from the settings in force, such as the local rank, or from the reader's own pod. */
export interface KeptFacts extends Omit<ProcessFacts, 'localRank' | 'isInOwnPod'> {
  /** Start time, which distinguishes the process from another one with its pid; undefined if it is unknown. */
  readonly start: string | undefined;
}

/** Returns undefined if the text would be too long for a state file. */
export function keptText(facts: KeptFacts): string | undefined {
  const { pid, start, instance, environment, gpus, name, containerId, podUid } = facts;
  const kept = { version: VERSION, pid, start, instance, environment, gpus, name, containerId, podUid };
  const text = JSON.stringify(kept);
  return Buffer.byteLength(text) <= MOST_ATTRIBUTE_BYTES ? text : undefined;
}

/** Returns undefined if the text is not of this version, or no text that keptText() made. */
export function factsIn(text: string): KeptFacts | undefined {
  const { version, pid, start, instance, environment, gpus, name, containerId, podUid } = objectIn(text);
  const isRight =
    version === VERSION &&
    isWhole(pid, 1, MAX_PID) &&
    (start === undefined || isText(start)) &&
    (instance === undefined || isWhole(instance, 0, MAX_PID)) &&
    isObject(environment) &&
    Object.values(environment).every(isText) &&
    (gpus === undefined || (Array.isArray(gpus) && gpus.every(isText))) &&
    [name, containerId, podUid].every((one) => one === undefined || isText(one));
  if (!isRight) return undefined;
  const identity = Object.entries({ name, containerId, podUid }).filter(([, value]) => value !== undefined);
  const known = { ...(gpus && { gpus }), ...Object.fromEntries(identity) };
  return { pid, start, instance, environment: environment as Record<string, string>, ...known };
}

function objectIn(text: string): Record<string, unknown> {
  const parsed = parsedJson(text);
  return isObject(parsed) ? parsed : {};
}

/** A variable of an environment may be empty. */
function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isWhole(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

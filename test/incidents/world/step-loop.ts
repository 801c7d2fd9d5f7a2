/** The loop of an engine: at the start of a step it sees which transfers are complete, and posts those that it was asked for. */
import type { Agenda } from './agenda.js';
import type { Random } from './random.js';
import type { StepLoop } from './shapes.js';

/** An agent that is driven by a loop. */
export interface Stepped {
  readonly openTransfers: number;
  /** Factor of the length of steps. */
  lateness(atUs: number): number;
  stallEndUs(atUs: number): number | undefined;
  /** Returns the time at which its posts are done. */
  step(atUs: number): number;
}

const STEP_SIGMA = 0.3;

export class EngineLoop {
  readonly #agenda: Agenda;
  readonly #random: Random;
  readonly #shape: StepLoop;
  readonly #members: Stepped[] = [];
  #isStepping = false;
  /** Start of the next step, as far as it is known. */
  #nextUs = 0;

  constructor(agenda: Agenda, random: Random, shape: StepLoop) {
    this.#agenda = agenda;
    this.#random = random;
    this.#shape = shape;
  }

  add(member: Stepped): void {
    this.#members.push(member);
  }

  /** Takes steps until no transfer is open. Steps without transfers are left out: only their phase is drawn. */
  wake(atUs: number): void {
    if (this.#isStepping) return;
    this.#isStepping = true;
    const startUs = this.#nextUs > atUs ? this.#nextUs : atUs + this.#random.uniform() * this.#lengthUs(atUs);
    this.#agenda.add(this.#afterStall(startUs), (nowUs) => this.#step(nowUs));
  }

  /** Growth of a step by open transfers and lateness. */
  growth(atUs: number): number {
    let open = 0;
    let lateness = 1;
    for (const member of this.#members) {
      open = Math.max(open, member.openTransfers);
      lateness = Math.max(lateness, member.lateness(atUs));
    }
    return (1 + this.#shape.growth * open) * lateness;
  }

  #step(atUs: number): void {
    const lengthUs = this.#lengthUs(atUs);
    let postedUs = atUs;
    for (const member of this.#members) postedUs = Math.max(postedUs, member.step(atUs));
    this.#nextUs = Math.max(atUs + lengthUs, postedUs);
    this.#isStepping = this.#members.some(({ openTransfers }) => openTransfers > 0);
    if (this.#isStepping) this.#agenda.add(this.#afterStall(this.#nextUs), (nowUs) => this.#step(nowUs));
  }

  #lengthUs(atUs: number): number {
    return this.#shape.ms * 1000 * this.growth(atUs) * this.#random.around(STEP_SIGMA);
  }

  #afterStall(atUs: number): number {
    return this.#members.reduce((latest, member) => Math.max(latest, member.stallEndUs(atUs) ?? 0), atUs);
  }
}

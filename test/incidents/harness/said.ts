/** What is said over time. */
export interface Said {
  readonly kind: string;
  readonly level: 'alarm' | 'note';
  /** Names; empty if it concerns no particular agent. */
  readonly agents: readonly string[];
  readonly sinceMs: number | undefined;
  readonly sentence: string;
}

/** What was said of one agent, from the first sample that said so to the first that did not. Times in seconds from the start. */
export interface Spell extends Pick<Said, 'kind' | 'level' | 'sentence'> {
  /** '' if it concerns no particular one. */
  readonly agent: string;
  readonly sinceS: number;
  readonly saidS: number;
  endS?: number;
}

export class Spells {
  readonly all: Spell[] = [];
  #open = new Map<string, Spell>();
  readonly #beganMs: number;

  constructor(beganMs: number) {
    this.#beganMs = beganMs;
  }

  take(takenMs: number, said: readonly Said[]): void {
    const takenS = (takenMs - this.#beganMs) / 1000;
    const open = new Map<string, Spell>();
    for (const { kind, level, agents, sinceMs = takenMs, sentence } of said) {
      for (const agent of agents.length === 0 ? [''] : agents) {
        const key = `${kind} ${level} ${agent}`;
        const spell =
          open.get(key) ??
          this.#open.get(key) ??
          this.#begin({ kind, level, agent, sentence, sinceS: (sinceMs - this.#beganMs) / 1000, saidS: takenS });
        open.set(key, spell);
      }
    }
    for (const [key, spell] of this.#open) if (!open.has(key)) spell.endS = takenS;
    this.#open = open;
  }

  #begin(spell: Spell): Spell {
    this.all.push(spell);
    return spell;
  }
}

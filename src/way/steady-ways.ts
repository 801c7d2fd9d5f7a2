/** Ways that lasted, for labels: each change makes a new series. Pure. */
import { type Way, type Ways, wayText } from './way.js';

/** Time for which a way is certain before it is a label. A direction then has at most one change a minute. */
const STEADY_MS = 60_000;

interface WayTexts {
  readonly tx?: string;
  readonly rx?: string;
}

interface Steadiness {
  readonly texts: WayTexts;
  readonly candidates: Readonly<Record<keyof Ways, { readonly text: string; readonly sinceMs: number } | undefined>>;
}

const NONE: Steadiness = { texts: {}, candidates: { tx: undefined, rx: undefined } };

export class SteadyWays {
  #byId: ReadonlyMap<number, Steadiness> = new Map();

  /** Returns the same object as long as its ways do not change; undefined before one has lasted. A later doubt keeps them. */
  of(id: number): WayTexts | undefined {
    const texts = this.#byId.get(id)?.texts;
    return texts?.tx === undefined && texts?.rx === undefined ? undefined : texts;
  }

  /** `ways`: those of all agents now. */
  take(takenMs: number, ways: ReadonlyMap<number, Ways>): void {
    this.#byId = new Map([...ways].map(([id, now]) => [id, next(this.#byId.get(id) ?? NONE, now, takenMs)]));
  }
}

function next({ texts, candidates }: Steadiness, ways: Ways, takenMs: number): Steadiness {
  const candidateOf = (name: keyof Ways): Steadiness['candidates']['tx'] => {
    const text = certainText(ways[name]);
    if (text === undefined) return undefined;
    const before = candidates[name];
    return before?.text === text && before.sinceMs <= takenMs ? before : { text, sinceMs: takenMs };
  };
  const now = { tx: candidateOf('tx'), rx: candidateOf('rx') };
  const lasting = (name: keyof Ways): string | undefined => {
    const one = now[name];
    return one !== undefined && takenMs - one.sinceMs >= STEADY_MS ? one.text : texts[name];
  };
  const [tx, rx] = [lasting('tx'), lasting('rx')];
  const isSame = tx === texts.tx && rx === texts.rx;
  return {
    candidates: now,
    texts: isSame ? texts : { ...(tx !== undefined && { tx }), ...(rx !== undefined && { rx }) },
  };
}

function certainText(way: Way | undefined): string | undefined {
  return way?.sure === 'certain' ? wayText(way) : undefined;
}

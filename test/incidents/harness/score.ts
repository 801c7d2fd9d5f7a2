/** Compares what was said with the labels of a case: notes and alarms apart. */
import type { Case, Label } from '../cases.js';
import type { Spell } from './said.js';

/** For this long after its cause has ended, a finding may begin. */
const AFTER_CAUSE_S = 60;

/** A label, and when it was met. */
export interface LabelScore {
  readonly label: Label;
  /** Seconds from the cause until the last agent of the label was named; undefined if one never was. */
  readonly afterS: number | undefined;
}

export interface CaseScore {
  readonly name: string;
  readonly kind: string;
  readonly labels: readonly LabelScore[];
  /** Alarms that no label asks for. */
  readonly falseAlarms: readonly Spell[];
  /** Agents of required notes that were never said. */
  readonly missingNotes: readonly string[];
  readonly notes: readonly Spell[];
}

export function scoreOf({ name, kind, alarms, notes, faults }: Case, spells: readonly Spell[]): CaseScore {
  const causeEndS =
    faults.length > 0 && faults.every(({ untilS }) => untilS !== undefined)
      ? Math.max(...faults.map(({ untilS }) => untilS!))
      : Infinity;
  const said = spells.filter(({ level }) => level === 'alarm');
  const isMeant = (spell: Spell): boolean =>
    alarms.some(
      (label) => label.kind === spell.kind && label.agents.includes(spell.agent) && spell.saidS >= label.fromS,
    ) && spell.saidS <= causeEndS + AFTER_CAUSE_S;
  const noted = spells.filter(({ level }) => level === 'note');
  return {
    name,
    kind,
    labels: alarms.map((label) => ({ label, afterS: metAfterS(label, said) })),
    falseAlarms: said.filter((spell) => !isMeant(spell)),
    missingNotes: notes.flatMap((note) =>
      note.agents.filter((agent) => !noted.some((spell) => spell.kind === note.kind && spell.agent === agent)),
    ),
    notes: noted,
  };
}

export function isInTime({ label, afterS }: LabelScore): boolean {
  return afterS !== undefined && afterS <= label.byS;
}

function metAfterS({ kind, agents, fromS }: Label, said: readonly Spell[]): number | undefined {
  const times = agents.map((agent) =>
    said
      .filter((spell) => spell.kind === kind && spell.agent === agent && spell.saidS >= fromS)
      .map(({ saidS }) => saidS - fromS),
  );
  return times.every((each) => each.length > 0) ? Math.max(...times.map((each) => Math.min(...each))) : undefined;
}

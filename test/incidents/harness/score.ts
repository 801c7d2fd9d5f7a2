/** Compares what was said with the labels of a case: notes and alarms apart. */
import { isSlowAlarm } from '../../../src/view/slowness/slow-facts.js';
import type { Case, Label } from '../cases.js';
import type { Spell } from './said.js';

/** For this long after its cause has ended, a finding may begin. */
const AFTER_CAUSE_S = 60;

const OTHER_CAUSES = ['late-completion', 'busy'];

/** A label, and when it was met. */
export interface LabelScore {
  readonly label: Label;
  /** Seconds from the cause until the last agent of the label was named; undefined if one never was. */
  readonly afterS: number | undefined;
  /** Agents that are no longer named at the end of the case, though they are still slow. */
  readonly forgotten: readonly string[];
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
  /** Notes that name another cause of what an alarm is about. */
  readonly contradictions: readonly Spell[];
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
  const goesOn = faults.every(({ untilS, flapS }) => untilS === undefined && flapS === undefined);
  const noted = spells.filter(({ level }) => level === 'note');
  return {
    name,
    kind,
    labels: alarms.map((label) => ({
      label,
      afterS: metAfterS(label, said),
      forgotten: goesOn && isSlowAlarm(label) ? forgottenOf(label, said) : [],
    })),
    falseAlarms: said.filter((spell) => !isMeant(spell)),
    missingNotes: notes.flatMap((note) =>
      note.agents.filter((agent) => !noted.some((spell) => spell.kind === note.kind && spell.agent === agent)),
    ),
    notes: noted,
    contradictions: noted.filter(
      (note) => OTHER_CAUSES.includes(note.kind) && said.some((alarm) => contradicts(note, alarm)),
    ),
  };
}

function contradicts(note: Spell, alarm: Spell): boolean {
  const isAtOnce = note.saidS < (alarm.endS ?? Infinity) && alarm.saidS < (note.endS ?? Infinity);
  return isAtOnce && note.agent === alarm.agent && isSlowAlarm(alarm);
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

function forgottenOf({ kind, agents }: Label, said: readonly Spell[]): string[] {
  return agents.filter((agent) => {
    const spells = said.filter((spell) => spell.kind === kind && spell.agent === agent);
    return spells.length > 0 && spells.every(({ endS }) => endS !== undefined);
  });
}

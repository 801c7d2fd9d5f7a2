/** The table of results: by kind what was found, how fast, and what was said for nothing. */
import { type CaseScore, isInTime } from './score.js';

export function summaryOf(incidents: readonly CaseScore[], oddities: readonly CaseScore[]) {
  const labels = incidents.flatMap((score) => score.labels);
  const found = labels.filter(({ afterS }) => afterS !== undefined).length;
  const all = [...incidents, ...oddities];
  const crying = all.filter(({ falseAlarms }) => falseAlarms.length > 0).length;
  return {
    labels: labels.length,
    found,
    inTime: labels.filter(isInTime).length,
    falseAlarms: all.reduce((sum, { falseAlarms }) => sum + falseAlarms.length, 0),
    /** Cases with an alarm for nothing. */
    crying,
    recall: found / labels.length,
    precision: found + crying === 0 ? 1 : found / (found + crying),
    missingNotes: all.reduce((sum, { missingNotes }) => sum + missingNotes.length, 0),
  };
}

export function tableOf(incidents: readonly CaseScore[], oddities: readonly CaseScore[]): string {
  const rows = [
    ['what happens', 'cases', 'alarms', 'found', 'in time', 'p50 s', 'max s', 'false alarms', 'notes'],
    ...kindsOf(incidents).map(([kind, scores]) => {
      const labels = scores.flatMap((score) => score.labels);
      const times = labels.flatMap(({ afterS }) => afterS ?? []).sort((a, b) => a - b);
      const found = labels.filter(({ afterS }) => afterS !== undefined).length;
      return [
        kind,
        scores.length,
        labels.length,
        found,
        labels.filter(isInTime).length,
        middle(times),
        times.at(-1) ?? '',
        ...rest(scores),
      ];
    }),
    ...kindsOf(oddities).map(([kind, scores]) => [
      `${kind} (healthy)`,
      scores.length,
      0,
      '',
      '',
      '',
      '',
      ...rest(scores),
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  const lines = rows.map((row) => `| ${row.map((cell, i) => String(cell).padEnd(widths[i]!)).join(' | ')} |`);
  return [lines[0]!, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...lines.slice(1)].join('\n');
}

/** Lists what was not as the labels say. */
export function faultsOf(scores: readonly CaseScore[]): string[] {
  return scores.flatMap(({ name, labels, falseAlarms, missingNotes, contradictions }) => [
    ...labels.flatMap((score) => {
      const { kind, agents, byS } = score.label;
      if (isInTime(score)) return [];
      return `${name}: ${kind} of ${agents.join(' ')} ${score.afterS === undefined ? 'missed' : `after ${score.afterS} s, not ${byS}`}`;
    }),
    ...labels.flatMap(({ label: { kind }, forgotten }) => {
      return forgotten.map((agent) => `${name}: ${kind} of ${agent} ended before its cause`);
    }),
    ...falseAlarms.map(
      ({ kind, agent, saidS, sentence }) => `${name}: false alarm at ${saidS} s: ${kind} ${agent} (${sentence})`,
    ),
    ...missingNotes.map((agent) => `${name}: no note about ${agent}`),
    ...contradictions.map(({ kind, agent, saidS }) => `${name}: ${kind} of ${agent} beside an alarm at ${saidS} s`),
  ]);
}

function rest(scores: readonly CaseScore[]): (string | number)[] {
  const falseAlarms = scores.reduce((sum, score) => sum + score.falseAlarms.length, 0);
  return [falseAlarms, scores.reduce((sum, { notes }) => sum + notes.length, 0)];
}

function kindsOf(scores: readonly CaseScore[]): [string, CaseScore[]][] {
  const kinds = new Set(scores.map(({ kind }) => kind));
  return [...kinds].map((kind) => [kind, scores.filter((score) => score.kind === kind)]);
}

function middle(sorted: readonly number[]): number | string {
  return sorted[Math.floor(sorted.length / 2)] ?? '';
}

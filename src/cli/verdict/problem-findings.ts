/** Findings about files and directories that cannot be read. Pure. */
import { counted } from '../figures/figure.js';
import type { Finding, VerdictInput } from './types.js';

interface ProblemText {
  /** After `1 file` or `3 files`. */
  readonly says: string;
  readonly advice: string;
}

/** Files by state, the worst one first. A file of another state is about to become a ring. */
const FILES: Readonly<Record<string, ProblemText>> = {
  denied: {
    says: 'may not be read',
    advice: 'Let this user read and write the file, or run as the user of the agent or as root.',
  },
  incompatible: { says: 'of a version that cannot be read', advice: 'Install a newer version of this package.' },
  busy: {
    says: 'held by another consumer',
    advice: 'Wait for its end, or end it: nixl-otel doctor names the processes that hold a ring.',
  },
  corrupt: { says: 'damaged, or no ring', advice: 'Restart the agent if it is one. Keep other files elsewhere.' },
};

/** States of directories. Without agents, another finding says the same. */
const PLACES: Readonly<Record<string, string>> = {
  absent: 'Create the directory before the agents start: they do not create it.',
  no_rings: 'Start agents with NIXL_TELEMETRY_ENABLE=y and this directory in NIXL_TELEMETRY_DIR.',
  relative: 'Give the absolute path of the directory.',
};

type Problem = NonNullable<VerdictInput['problems']>[number];

/** Returns the number of problems that are no places without rings. */
export function unreadableFiles({ problems = [], problemCount = problems.length }: VerdictInput): number {
  return problemCount - problems.filter(({ state }) => state in PLACES).length;
}

export function problemFindings({ agents, problems = [] }: VerdictInput): Finding[] {
  const files = Object.entries(FILES).flatMap(([state, { says, advice }]) => {
    const found = problems.filter((problem) => problem.state === state);
    return found.length === 0 ? [] : [{ ...finding('warn', 'File not read', fileSentence(found, says)), advice }];
  });
  if (agents.length === 0) return files;
  const places = problems.flatMap(({ path, state, reason }) => {
    const advice = PLACES[state];
    return advice === undefined ? [] : [{ ...finding('info', 'No rings', `${path}: ${reason}`), advice }];
  });
  return [...files, ...places];
}

function fileSentence(found: readonly Problem[], says: string): string {
  const { path, reason } = found[0]!;
  if (found.length === 1) return `${path}: ${says} (${reason})`;
  return `${counted(found.length, 'file')} ${says}, first ${path} (${reason})`;
}

function finding(tone: Finding['tone'], word: string, sentence: string): Finding {
  return { kind: 'problem', tone, shape: tone === 'info' ? 'ring' : 'triangle', word, sentence, agents: [] };
}

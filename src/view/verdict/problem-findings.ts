/** Findings about files and directories that cannot be read, or soon cannot. Pure. */
import { plural } from '../../ground/figures/figure.js';
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

/** A directory in which agents end, or soon will. */
const NO_SPACE = 'no_space';
/** A directory with agents of unknown life. */
const UNSEEN = 'unseen';

/** A ring without a name, of an agent that still writes it. */
const DELETED = 'deleted';

/** States of directories. Without agents, another finding says the same. */
const PLACES: Readonly<Record<string, string>> = {
  absent: 'Create the directory before the agents start: they do not create it.',
  no_rings: 'Start agents with NIXL_TELEMETRY_ENABLE=y and this directory in NIXL_TELEMETRY_DIR.',
  relative: 'Give the absolute path of the directory.',
};

type ReportedProblem = NonNullable<VerdictInput['problems']>[number];

/** Returns the number of problems that are files which cannot be read. */
export function unreadableFiles({ problems = [], problemCount = problems.length }: VerdictInput): number {
  const isRead = (state: string): boolean => state in PLACES || [NO_SPACE, UNSEEN, DELETED].includes(state);
  return problemCount - problems.filter(({ state }) => isRead(state)).length;
}

export function problemFindings({ agents, problems = [] }: VerdictInput): Finding[] {
  const files = Object.entries(FILES).flatMap(([state, { says, advice }]) => {
    const found = problems.filter((problem) => problem.state === state);
    return found.length === 0 ? [] : [{ ...finding('warn', 'File not read', fileSentence(found, says)), advice }];
  });
  const deleted = problems.filter(({ state }) => state === DELETED);
  if (deleted.length > 0) files.unshift(deletedFinding(deleted));
  files.unshift(...problems.filter(({ state }) => state === NO_SPACE).map(spaceFinding));
  if (agents.length === 0) return files;
  const unseen = problems.filter(({ state }) => state === UNSEEN).map(unseenFinding);
  const places = problems.flatMap(({ path, state, reason }) => {
    const advice = PLACES[state];
    return advice === undefined ? [] : [{ ...finding('info', 'No rings', `${path}: ${reason}`), advice }];
  });
  return [...files, ...places, ...unseen];
}

function unseenFinding({ path, reason }: ReportedProblem): Finding & { advice: string } {
  const advice = 'Until then the end of such an agent is not seen: its last values stay, and nixl_agent_up is absent.';
  return { ...finding('info', 'Lives unknown', `${path}: ${reason}`), advice };
}

function spaceFinding({ path, reason }: ReportedProblem): Finding & { advice: string } {
  const advice =
    'Remove the rings of ended agents, or enlarge the file system: the kernel ends an agent whose ring finds no space (SIGBUS).';
  return { ...finding('warn', 'Nearly full', `${path} has ${reason}`), advice };
}

function deletedFinding(found: readonly ReportedProblem[]): Finding & { advice: string } {
  const { path } = found[0]!;
  const isOne = found.length === 1;
  const [word, subject, writing] = isOne
    ? ['Ring deleted', `${path} was deleted`, 'its agent still writes']
    : ['Rings deleted', `${plural(found.length, 'ring')} were deleted, first ${path}`, 'their agents still write'];
  const sentence = `${subject}: this serve counts what ${writing} there, and no later one can`;
  const advice = `Start ${isOne ? 'the agent' : 'the agents'} again before serve: each makes a new ring. If a logout deleted the file, run loginctl enable-linger, or use a directory outside of /dev/shm.`;
  return { ...finding('warn', word, sentence), advice };
}

function fileSentence(found: readonly ReportedProblem[], says: string): string {
  const { path, reason } = found[0]!;
  if (found.length === 1) return `${path}: ${says} (${reason})`;
  return `${plural(found.length, 'file')} ${says}, first ${path} (${reason})`;
}

function finding(tone: Finding['tone'], word: string, sentence: string): Finding {
  return { kind: 'problem', tone, shape: tone === 'info' ? 'ring' : 'triangle', word, sentence, agents: [] };
}

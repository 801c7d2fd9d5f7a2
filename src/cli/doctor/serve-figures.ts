/** What a running serve knows of its agents: the verdict of its figures, as the live page and top show it. */
import { type AgentsAnswer, AGENTS_PATH, API } from '../../view/answers/answer.js';
import type { ServedAgent } from '../../view/model/agent-model.js';
import { verdictInput } from '../../view/answers/verdict-input.js';
import type { HttpAnswer } from '../../view/client/client.js';
import type { FindingKind } from '../../view/verdict/types.js';
import { verdictOf } from '../../view/verdict/verdict.js';
import type { DoctorFinding } from '../../view/answers/doctor-finding.js';
import { finding } from './finding.js';
import type { FindingName } from './findings.js';
import { parsedJson } from '../../ground/errors.js';

/** Undefined for kinds that are in the answer of /readyz, or that say that all is well. */
const FINDINGS_OF: Readonly<Record<FindingKind, FindingName | undefined>> = {
  stale: undefined,
  none: undefined,
  incomplete: 'serve-incomplete',
  failing: 'serve-finds',
  ended: 'serve-finds',
  'slow-transfers': 'serve-finds',
  'slow-posts': 'serve-finds',
  'late-completion': 'serve-finds',
  busy: 'serve-finds',
  'cold-start': 'serve-finds',
  uneven: 'serve-finds',
  quiet: 'serve-finds',
  unused: 'serve-finds',
  memory: 'serve-finds',
  way: 'serve-finds',
  receiver: 'serve-exports-fail',
  problem: undefined,
  state: 'serve-finds',
  measuring: undefined,
  well: undefined,
};

/** Path below the address of serve, for all agents without their histograms. */
export const FIGURES_PATH = `/${AGENTS_PATH}?agents=all&detail=none`;

/** Returns no finding without figures: with `--page off`, and from other programs. */
export function figureFindings(subject: string, { status, text }: HttpAnswer): DoctorFinding[] {
  const answer =
    status === 200 ? (parsedJson(text) as Partial<AgentsAnswer<ServedAgent>> | null | undefined) : undefined;
  if (answer?.api !== API) return [];
  return verdictOf(verdictInput(answer as AgentsAnswer<ServedAgent>, { name: subject })).findings.flatMap(
    ({ kind, word, sentence, advice }) => {
      const name = FINDINGS_OF[kind];
      const what = `${word}: ${[sentence, advice].filter(Boolean).join('. ')}`;
      return name === undefined ? [] : [finding(name, { subject, what, values: { URL: subject } })];
    },
  );
}

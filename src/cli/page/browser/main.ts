/** Main module of the live page. */
import { amount, binaryBytes, duration } from '../../figures/formats.js';
import { type AgentData, type AgentsAnswer, AGENTS_PATH } from '../../api/answer.js';
import { AgentsTable } from './agents-table.js';
import { barTable } from './bars.js';
import { bucketRows } from './bucket-rows.js';
import { makeCharts } from './charts.js';
import { byId, element, named, setRows, setText } from './dom.js';
import { agentsOf, ANSWERS_KEPT_MS, type Distribution, History } from './history.js';
import { percentileTable } from './percentile-table.js';
import { poll } from './poll.js';
import { makeTotals } from './totals.js';

const history = new History();
const charts = makeCharts();
const showTotals = makeTotals();
const showTimePercentiles = percentileTable(byId('durations'), 'Percentiles of the transfer times', 'transferTimesUs');
const showPostPercentiles = percentileTable(byId('post-durations'), 'Percentiles of the post times', 'postTimesUs');
const showDurations = barTable(byId('durations'), 'Transfers by transfer time', 'time', [['transfers', 'tx']]);
const showPosts = barTable(byId('post-durations'), 'Transfers by post time', 'time', [['transfers', 'tx']]);
const showSizes = barTable(byId('sizes'), 'Transfers by size and direction', 'size', [
  ['tx', 'tx'],
  ['rx', 'rx'],
]);
const showErrors = barTable(byId('errors'), 'Errors by status', 'status', [['errors', 'high']]);
const agents = new AgentsTable((agent) => choose(agent));
const span = byId('span') as HTMLSelectElement;
const distributionSpan = byId('distribution-span') as HTMLSelectElement;
const pause = byId('pause');
const allAgents = byId('all-agents');

let agent: number | undefined;
let isPaused = false;

const setPaused = poll(AGENTS_PATH, {
  onData(data) {
    history.add(data);
    showState('live', 'Live');
    show();
  },
  onFailure(reason) {
    showState('stale', `No answer (${reason}). Trying again; the numbers below are old.`);
  },
});

pause.addEventListener('click', () => {
  isPaused = !isPaused;
  setPaused(isPaused);
  pause.setAttribute('aria-pressed', String(isPaused));
  if (isPaused) showState('paused', 'Paused');
});
allAgents.addEventListener('click', () => choose(undefined));
for (const select of [span, distributionSpan]) select.addEventListener('change', () => show());

function choose(wanted: number | undefined): void {
  agent = wanted;
  show();
}

function showState(state: 'live' | 'paused' | 'stale', text: string): void {
  document.documentElement.dataset['state'] = state;
  setText(byId('state'), text);
}

function show(): void {
  const data = history.latest;
  if (data === undefined) return;
  const found = agentsOf(data, agent);
  showHeader(data, found);
  const spanMs = Number(span.value) * 1000;
  for (const chart of charts) chart.show(history.columns(agent, spanMs, chart.measures));
  showTotals(history, agent, found);
  const barsSpanMs = distributionSpan.value === 'minute' ? ANSWERS_KEPT_MS : undefined;
  const counts = (key: Distribution) => history.counts(agent, key, barsSpanMs);
  showTimePercentiles(history, agent);
  showPostPercentiles(history, agent);
  showDurations(bucketRows([counts('transferTimesUs')], duration));
  showPosts(bucketRows([counts('postTimesUs')], duration));
  showSizes(bucketRows([counts('txSizes'), counts('rxSizes')], binaryBytes));
  showErrors(errorRows(data, found));
  agents.show(data, history, agent);
  showProblems(data);
}

function errorRows({ errorStatuses }: AgentsAnswer, found: readonly AgentData[]) {
  return errorStatuses
    .map((label, i) => ({ label, values: [found.reduce((sum, one) => sum + (one.errors[i] ?? 0), 0)] }))
    .filter(({ values: [count] }) => count! > 0);
}

function showHeader(data: AgentsAnswer, found: readonly AgentData[]): void {
  setText(byId('host'), data.hostname);
  setText(byId('version'), data.version);
  const present = data.agents.length + Math.max(0, data.folded - 1);
  const dead = data.agents.filter(({ life }) => life === 'dead').length;
  setText(
    byId('count'),
    `${present === 1 ? '1 agent' : `${amount(present)} agents`}${dead > 0 ? `, ${dead} ended` : ''}`,
  );
  byId('none').hidden = data.agents.length > 0;
  setText(byId('directories'), data.directories.join(', '));
  const isOne = agent !== undefined;
  byId('chosen').hidden = !isOne;
  if (isOne) setText(byId('chosen-name'), found[0]?.name ?? 'an agent that is no longer listed');
}

function showProblems({ problems, problemCount }: AgentsAnswer): void {
  byId('problems').hidden = problemCount === 0;
  const make = (): HTMLElement => element('li', {}, named(''), '');
  setRows(byId('problem-list'), problems, make, (line, { path, state, reason }) => {
    setText(line.firstElementChild!, path);
    const text = ` is ${state}: ${reason}`;
    if (line.lastChild!.textContent !== text) line.lastChild!.textContent = text;
  });
  const unlisted = problemCount - problems.length;
  setText(byId('more-problems'), unlisted > 0 ? `and ${amount(unlisted)} more` : '');
}

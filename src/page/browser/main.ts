/** Main module of the live page: it joins the parts. */
import type { HistoryEvent } from '../../view/answers/history-answer.js';
import { momentText, spanText } from '../../ground/figures/clock.js';
import { matchesGlob } from '../../ground/glob.js';
import { plural, UNKNOWN } from '../../ground/figures/figure.js';
import { errorsOf, labelOfAgent } from '../../view/model/agent-model.js';
import { SHAPES } from '../../view/verdict/shapes.js';
import { LIVES_MS } from '../../view/verdict/succession.js';
import { PRESENT_MS } from '../../view/verdict/trouble-watch.js';
import type { Verdict } from '../../view/verdict/types.js';
import { SORTS } from './agents/columns.js';
import type { TableRow } from './agents/rows.js';
import { AgentsTable, PROBLEMS } from './agents/table.js';
import { Charts } from './charts/charts.js';
import { TimeCursor } from './charts/time-cursor.js';
import { type MarkedTime, tooLowRanges } from './charts/too-low.js';
import type { Window } from './charts/window.js';
import { byId, setText } from './common/dom.js';
import { makeCopyButtons, showEmpty } from './empty.js';
import { makeFigures } from './figures.js';
import { type FiguresAnswer, FiguresSource } from './figures-source.js';
import { Header, type PageState, toggleFullScreen } from './header.js';
import { listenToKeys } from './keys.js';
import { Panel } from './panel/panel.js';
import { Poll } from './poll.js';
import { highest } from './common/series.js';
import type { Spark } from './spark-paths.js';
import { SizesOnPage } from './sizes/sizes-on-page.js';
import { IncidentList, ribbonsOf } from './incident-list.js';
import { Strip } from './strip.js';
import { ThemeSwitch } from './theme.js';
import { hashOf, type ViewState, viewOf } from './view.js';

/** Without an answer for this long, the numbers are stale. */
const STALE_MS = 3000;
/** Charts of a history that has just begun show this time. */
const LEAST_SPAN_S = 30;

const source = new FiguresSource();
const cursor = new TimeCursor((zoom) => setView({ zoom }));
const charts = new Charts(cursor, (showsTop) => setView({ showsTop }));
const table = new AgentsTable((change) => setView(change));
const panel = new Panel(cursor, movePanel, () => setView({ agent: undefined }));
const timeBySize = new SizesOnPage((change) => setView(change));
const showFigures = makeFigures();
const strip = new Strip();
const incidents = new IncidentList();
const help = byId('help') as HTMLDialogElement;
const header = new Header({ onSpan: (spanS) => setView({ spanS, zoom: undefined }), onPause: togglePause, onHelp });
const theme = new ThemeSwitch(byId('theme'), () => {
  charts.redraw();
  panel.redraw();
});
let view = viewOf(location.hash, SORTS);
let isPaused = false;
let receivedMs = performance.now();
/** The page just began to ask again: an old answer is no sign of trouble yet. */
let askedSinceMs = receivedMs;
let failure = 'it takes too long';

const poll = new Poll({
  load: (signal) => source.load(view.agent, signal),
  onData(data) {
    source.add(data);
    receivedMs = performance.now();
    failure = 'it takes too long';
    show();
  },
  onFailure(reason) {
    failure = reason;
    show();
  },
});

listenToKeys({
  search: () => table.focusSearch(),
  moveAgent(steps) {
    if (view.agent === undefined) table.move(steps);
    else movePanel(steps);
  },
  openAgent() {
    if (table.currentName !== undefined) setView({ agent: table.currentName });
  },
  escape,
  problems: () => setView({ states: view.states.length > 0 ? [] : PROBLEMS }),
  span: (spanS) => setView({ spanS, zoom: undefined }),
  moveCursor: (steps, isSelecting) => cursor.step(timesInView(), steps, isSelecting),
  zoom: () => cursor.zoomToSelection(),
  pause: togglePause,
  top: () => setView({ showsTop: !view.showsTop }),
  theme: () => theme.next(),
  fullScreen: toggleFullScreen,
  agents() {
    byId('agents').scrollIntoView();
    byId('scroller').focus();
  },
  help: onHelp,
});
makeCopyButtons();
setText(
  byId('lasting'),
  `A finding stays for ${spanText(PRESENT_MS)} after its last cause, the note of an end for ${spanText(LIVES_MS)}.`,
);
byId('help-link').addEventListener('click', (event) => {
  event.preventDefault();
  onHelp();
});
byId('help-close').addEventListener('click', () => help.close());
addEventListener('hashchange', () => {
  const before = view.agent;
  view = viewOf(location.hash, SORTS);
  if (view.agent !== before) poll.now();
  show();
});
document.addEventListener('visibilitychange', () => (askedSinceMs = performance.now()));
// While a request hangs, no answer and no failure comes, but the age of the numbers grows.
setInterval(() => {
  if (!document.hidden && staleFor() !== undefined) show();
}, 1000);
show();

/** Changes what is shown, and the address with it. The browser's way back closes the panel. */
function setView(change: { [Key in keyof ViewState]?: ViewState[Key] | undefined }): void {
  const { agent, zoom, ...rest } = { ...view, ...change };
  const isOther = agent !== view.agent;
  view = { ...rest, ...(agent === undefined ? {} : { agent }), ...(zoom === undefined ? {} : { zoom }) } as ViewState;
  const address = hashOf(view) || location.pathname + location.search;
  if (isOther) window.history.pushState(null, '', address);
  else window.history.replaceState(null, '', address);
  if (isOther) poll.now();
  show();
}

function togglePause(): void {
  isPaused = !isPaused;
  askedSinceMs = performance.now();
  poll.pause(isPaused);
  timeBySize.pause(isPaused);
  show();
}

function onHelp(): void {
  help.showModal();
}

function movePanel(steps: number): void {
  if (view.agent === undefined) return;
  const next = table.neighbour(view.agent, steps);
  if (next === undefined) return;
  setView({ agent: next });
  table.reveal(next);
}

/** Ends the innermost thing: a search, the panel, the cursor, the zoom, the filter. */
function escape(): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLInputElement) {
    activeElement.blur();
    setView({ query: '' });
  } else if (view.agent !== undefined) setView({ agent: undefined });
  else if (cursor.at !== undefined) cursor.point(undefined);
  else if (view.zoom !== undefined) setView({ zoom: undefined });
  else setView({ query: '', states: [] });
}

/** Returns the time without an answer in milliseconds; undefined while that is no trouble. */
function staleFor(): number | undefined {
  if (isPaused) return undefined;
  const now = performance.now();
  return now - Math.max(receivedMs, askedSinceMs) >= STALE_MS ? now - receivedMs : undefined;
}

function show(): void {
  const { answer, history } = source;
  if (answer === undefined || history === undefined) return showLoading();
  const staleMs = staleFor();
  const verdict = source.verdict(answer, staleMs === undefined ? undefined : { forMs: staleMs, reason: failure });
  const isEmpty = answer.agents.length === 0;
  const state: PageState = isPaused ? 'paused' : staleMs !== undefined ? 'stale' : isEmpty ? 'empty' : 'live';
  const nowMs = Math.max(answer.takenMs, history.takenMs) + (staleMs ?? 0);
  header.name(answer);
  header.show(state, answer.takenMs, view);
  document.title = `${SHAPES[verdict.first.shape].glyph} ${verdict.first.word}: NIXL agents on ${answer.hostname}`;
  const linkOf = (id: number | string) => {
    const agent = answer.agents.find((one) => one.id === id);
    return agent && { names: [labelOfAgent(agent), agent.name], address: addressOf(agent.name) };
  };
  strip.show(verdict, linkOf, nowMs);
  byId('none').hidden = !isEmpty;
  byId('full').hidden = isEmpty;
  if (isEmpty) showEmpty(answer);
  else showFull(answer, verdict, nowMs, staleMs);
}

/** Returns the address of the panel of an agent. */
function addressOf(name: string): string {
  return hashOf({ ...view, agent: name });
}

function showFull(answer: FiguresAnswer, verdict: Verdict, nowMs: number, staleMs: number | undefined): void {
  const history = source.history!;
  const window = windowOf(nowMs, staleMs);
  const spanMs = (window.to - window.from) * 1000;
  incidents.show(source.incidents, window, (name) => source.agent(name) && addressOf(name), nowMs);
  const rows = source.rows(verdict);
  const age = staleMs === undefined ? {} : { age: `${spanText(staleMs)} old` };
  const full = answer.agents.flatMap(({ troubles }) => (troubles.full === undefined ? [] : [troubles.full.sinceMs]));
  const tooLow = full.length === 0 ? {} : { tooLowMs: Math.min(...full) };
  showFigures({ answer, history, nowMs, ...tooLow, ...age });
  charts.show({
    history,
    window,
    showsTop: view.showsTop,
    nameOf: (id) => answer.agents.find((agent) => agent.id === id)?.name ?? UNKNOWN,
    span: spanText(spanMs - Math.max(0, (history.timesMs[0] ?? 0) - window.from * 1000) - (staleMs ?? 0)),
    recent: view.zoom === undefined ? answer.recentTransferTimeUs : undefined,
    errorsSoFar: errorsSoFar(answer),
  });
  const most = rows.reduce((sofar, { moved }) => Math.max(sofar, highest(moved)), 1);
  table.show({
    rows,
    counts: verdict.counts,
    view,
    spark: { times: history.agentTimesMs, ...sparkWindow(window, staleMs), top: most },
    span: spanText(spanMs),
    nowMs,
  });
  const id = view.agent === undefined ? undefined : source.agent(view.agent)?.id;
  timeBySize.show({ startedMs: answer.startedMs, view, order: table.order, id });
  showPanel(answer, verdict, rows, window, nowMs);
}

function showPanel(
  answer: FiguresAnswer,
  verdict: Verdict,
  rows: readonly TableRow[],
  window: Window,
  nowMs: number,
): void {
  const { agent: name } = view;
  if (name === undefined) return panel.close();
  const row = rows.find(({ agent }) => agent.name === name);
  panel.open(name, row === undefined ? 'There is no agent of this name now.' : 'Loading');
  const agent = source.detailOf(name);
  if (row === undefined || agent === undefined) return;
  panel.show({
    agent,
    row,
    statuses: answer.errorStatuses,
    findings: verdict.findings.filter(({ agents }) => agents.includes(agent.id)),
    ports: answer.ports,
    history: source.history!,
    window: windowOfAgent(window, row, nowMs),
    isLive: view.zoom === undefined,
    nowMs,
  });
}

function windowOf(nowMs: number, staleMs: number | undefined): Window {
  const history = source.history!;
  const to = view.zoom?.[1] ?? nowMs / 1000;
  // A young history fills the whole width.
  const oldest = Math.min((history.timesMs[0] ?? nowMs) / 1000, to - LEAST_SPAN_S);
  return {
    from: view.zoom?.[0] ?? Math.max(to - view.spanS, oldest),
    to,
    ...(staleMs === undefined ? {} : { unknownFrom: (nowMs - staleMs) / 1000 }),
    tooLow: tooLowRanges(history.timesMs, history.fleet.full),
    blind: (history.blindSpans ?? []).map(({ fromMs, toMs }) => [fromMs / 1000, toMs / 1000]),
    maintenance: maintenanceTimes(nowMs),
    incidents: ribbonsOf(source.incidents, nowMs),
    ends: eventTimes(({ kind, transferring }) => kind === 'ended' && transferring === true),
    restarts: eventTimes(({ kind }) => kind === 'restarted'),
  };
}

/** Oldest first. `agent`: without what was announced of others. */
function maintenanceTimes(nowMs: number, agent?: string): MarkedTime[] {
  const announced = (source.answer?.maintenance ?? []).filter(({ agent: glob }) => {
    return agent === undefined || glob === undefined || matchesGlob(agent, glob);
  });
  return announced.map(({ beginMs, endMs }): MarkedTime => [beginMs / 1000, Math.min(endMs, nowMs) / 1000]).reverse();
}

/** Lines of rows end with the newest point, so that they change only with a new one. Milliseconds. */
function sparkWindow({ from, to }: Window, staleMs: number | undefined): Pick<Spark, 'from' | 'to'> {
  const isLive = view.zoom === undefined && staleMs === undefined;
  const newestMs = (isLive ? source.history!.agentTimesMs.at(-1) : undefined) ?? to * 1000;
  return { from: newestMs - (to - from) * 1000, to: newestMs };
}

/** The charts of one agent mark only its own events, troubles and incidents. */
function windowOfAgent(window: Window, { agent }: TableRow, nowMs: number): Window {
  const { agentTimesMs, agents } = source.history!;
  const own = source.incidents.filter((incident) => incident.agents.includes(agent.name));
  return {
    ...window,
    tooLow: tooLowRanges(agentTimesMs, agents.find(({ id }) => id === agent.id)?.full ?? []),
    maintenance: maintenanceTimes(nowMs, agent.name),
    incidents: ribbonsOf(own, nowMs),
    ends: agent.endedMs === undefined ? [] : [agent.endedMs / 1000],
    restarts: eventTimes(({ kind, id }) => kind === 'restarted' && id === agent.id),
  };
}

/** Returns the times of the events that `isWanted`, in seconds: a fleet that restarts as a whole has one time. */
function eventTimes(isWanted: (event: HistoryEvent) => boolean): number[] {
  const events = source.history!.events.filter(isWanted);
  return [...new Set(events.map(({ timeMs }) => timeMs / 1000))];
}

function errorsSoFar({ agents, startedMs, takenMs }: FiguresAnswer): string {
  const count = agents.reduce((sum, agent) => sum + errorsOf(agent), 0);
  const begin = Math.min(startedMs, ...agents.map(({ startTimeMs }) => startTimeMs));
  return `${count === 0 ? 'None' : plural(count, 'error')} since ${momentText(begin, takenMs)}`;
}

function timesInView(): number[] {
  const times = source.history?.timesMs.map((ms) => ms / 1000) ?? [];
  if (view.zoom === undefined) return times.filter((time) => time >= (times.at(-1) ?? 0) - view.spanS);
  return times.filter((time) => time >= view.zoom![0] && time <= view.zoom![1]);
}

function showLoading(): void {
  header.show('loading', Date.now(), view);
  if (performance.now() - askedSinceMs < STALE_MS) return;
  byId('strip').dataset['tone'] = 'bad';
  setText(byId('word'), 'No figures');
  setText(byId('sentence'), `${location.host} has given none yet (${failure}). The page asks again every second.`);
}

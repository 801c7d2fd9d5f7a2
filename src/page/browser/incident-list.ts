/** The incidents of the shown time that are over, below the findings of now. */
import { listed, plural } from '../../ground/figures/figure.js';
import type { Incident } from '../../view/incidents/incident.js';
import { howLongText, isMoment, whenText } from '../../view/incidents/incident-words.js';
import { agentsInWords } from '../../view/verdict/past-trouble.js';
import type { Window } from './charts/window.js';
import { byId, element, icon, setIcon, setRows, setText } from './common/dom.js';
import { mayMove } from './may-move.js';

/** On a phone a row has four lines. */
const MOST_ROWS = innerWidth > 700 ? 4 : 2;

/** Returns undefined for an agent that is gone. */
type AddressOfName = (name: string) => string | undefined;

export class IncidentList {
  readonly #section = byId('incidents');
  readonly #rows = byId('incident-rows');

  show(incidents: readonly Incident[], { from, to }: Window, addressOf: AddressOfName, nowMs: number): void {
    const over = incidents.filter(
      ({ beginMs, endMs }) => endMs !== undefined && endMs >= from * 1000 && beginMs <= to * 1000,
    );
    const shown = over.slice(0, MOST_ROWS);
    // Rows that come or go move what is below them.
    if (shown.length !== this.#rows.children.length && !mayMove()) return;
    this.#section.hidden = shown.length === 0;
    const left = over.length - shown.length;
    setText(byId('incidents-left'), left === 0 ? '' : `${plural(left, 'earlier incident')}: nixl-otel incidents`);
    setRows(this.#rows, shown, incidentRow, (row, incident) => fill(row, incident, addressOf, nowMs));
  }
}

/** These last for hours or for ever: nothing happened at one time. */
const LASTING: ReadonlySet<Incident['kind']> = new Set(['way', 'uneven']);

/** Returns the marks of a chart. Ends of agents have marks of their own. */
export function ribbonsOf(incidents: readonly Incident[], nowMs: number): Window['incidents'] {
  return incidents
    .filter((incident) => !isMoment(incident) && !LASTING.has(incident.kind))
    .map(({ level, beginMs, endMs = nowMs }) => ({
      range: [beginMs / 1000, endMs / 1000],
      colour: level === 'alarm' ? 'bad' : 'info',
    }));
}

function incidentRow(): HTMLElement {
  const subject = element('b', {}, element('a'));
  return element(
    'li',
    {},
    icon('ring'),
    subject,
    element('span'),
    element('span', { class: 'remedy' }),
    element('time'),
  );
}

function fill(row: HTMLElement, incident: Incident, addressOf: AddressOfName, nowMs: number): void {
  const { level, word, sentence, agents, agentCount, peak } = incident;
  const [sign, subject, what, worst, time] = row.children as unknown as HTMLElement[];
  row.dataset['tone'] = level === 'alarm' ? 'warn' : 'info';
  setIcon(sign!, level === 'alarm' ? 'triangle' : 'ring');
  const address = agentCount === 1 ? addressOf(agents[0]!) : undefined;
  const anchor = subject!.firstElementChild as HTMLAnchorElement;
  setText(anchor, agentsInWords(incident) || word);
  if (address === undefined) anchor.removeAttribute('href');
  else if (anchor.getAttribute('href') !== address) anchor.href = address;
  row.title = `${sentence}. ${listed(agents, agents.length)}`;
  setText(what!, agentCount === 0 ? sentence : word);
  setText(worst!, peak === undefined ? '' : `at worst ${peak.text}`);
  const length = howLongText(incident, nowMs);
  setText(time!, `${whenText(incident, nowMs)}${length === '' ? '' : `, ${length}`}`);
}

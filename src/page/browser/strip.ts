/** The verdict strip and the list of findings below it. */
import { spanText } from '../../ground/figures/clock.js';
import { plural } from '../../ground/figures/figure.js';
import { isAcceptable } from '../../view/slowness/slow-facts.js';
import { levelOf } from '../../view/verdict/shapes.js';
import type { Finding, Verdict } from '../../view/verdict/types.js';
import { acceptButton, aimAccept } from './accept-button.js';
import { mayMove } from './may-move.js';
import { announce, byId, element, icon, named, setIcon, setRows, setText } from './common/dom.js';

interface AgentLink {
  /** The agent's name, and what its engine tells: a sentence begins with one of them. */
  readonly names: readonly string[];
  readonly address: string;
}
/** Returns undefined if the agent is gone. */
export type LinkOf = (id: number | string) => AgentLink | undefined;

const PHONE_PX = 700;
/** A list that opens by itself has at least this many alarms: the strip says a single one in full. */
const OPENS_FROM = 2;
const MOST_LISTED = 12;

export class Strip {
  readonly #strip = byId('strip');
  readonly #icon = icon('tick');
  readonly #sentence = byId('sentence');
  readonly #list = byId('findings');
  readonly #button = byId('findings-button');
  readonly #arrow = icon('down');
  readonly #buttonText = element('span');
  #isOpen = false;
  #isCut = false;
  /** Findings of the last verdict, and alarms among them: more alarms may open the list. */
  #count = 0;
  #alarms = 0;
  /** True if the strip says the only finding of the list. */
  #isSaid = false;
  /** Fills the list with the findings of the last verdict. */
  #fillNow = (): void => {};
  #key = '';
  #said = '';

  constructor() {
    this.#strip.prepend(this.#icon);
    this.#button.append(this.#buttonText, this.#arrow);
    this.#button.addEventListener('click', () => {
      this.#isOpen = !this.#isOpen;
      this.#fillNow();
      this.#showList();
    });
    new ResizeObserver(this.#measure).observe(this.#sentence);
  }

  show({ first, findings }: Verdict, linkOf: LinkOf, nowMs: number): void {
    this.#strip.dataset['tone'] = first.tone;
    setIcon(this.#icon, first.shape);
    setText(byId('word'), first.word);
    this.#showSentence(first, linkOf);
    this.#announce(first);
    const listed = findings.filter(({ kind }) => kind !== 'none');
    const alarms = listed.filter((finding) => levelOf(finding) === 'alarm').length;
    setText(this.#buttonText, plural(listed.length, alarms === 0 ? 'note' : 'finding'));
    if (alarms >= OPENS_FROM && alarms > this.#alarms && hasRoom()) this.#isOpen = true;
    this.#count = listed.length;
    this.#alarms = alarms;
    this.#isSaid = listed.length === 1 && listed[0] === first && !isAcceptable(first);
    this.#fillNow = () => this.#fill(listed, linkOf, nowMs);
    // Rows that come or go move what is below them.
    if (listed.length === this.#list.children.length || hasRoom()) this.#fillNow();
    this.#showList();
    this.#showButton();
  }

  /** The strip says a single finding in full, if there is room. */
  #showButton(): void {
    this.#button.hidden = this.#count === 0 || (this.#isSaid && !this.#isCut && !this.#isOpen);
  }

  /** Runs after the next frame, whose layout it reads: an update that read it would lay out the page twice. */
  readonly #measure = (): void => {
    requestAnimationFrame(() =>
      setTimeout(() => {
        this.#isCut = this.#sentence.scrollHeight > this.#sentence.clientHeight + 1;
        this.#showButton();
      }),
    );
  };

  /**
   * Announces a finding only if its kind or the set of its agents changed: in the sentence a count may grow each second, and
   * another of its agents may have most failures.
   */
  #announce({ kind, word, sentence, advice = '', agents }: Finding): void {
    const said = `${kind} ${[...agents].sort().join()}`;
    if (said === this.#said) return;
    this.#said = said;
    announce(`${word}: ${sentence}. ${advice}`);
  }

  #showSentence({ sentence, advice, agents, kind }: Finding, linkOf: LinkOf): void {
    const text = advice === undefined ? `${sentence}.` : `${sentence}. ${advice}`;
    const link = agents.length === 1 ? linkOf(agents[0]!) : undefined;
    const key = `${text}${link?.address}`;
    if (key === this.#key) return;
    this.#key = key;
    this.#sentence.title = text;
    this.#sentence.replaceChildren(...sentenceParts(text, link, kind === 'well'));
    this.#measure();
  }

  #fill(findings: readonly Finding[], linkOf: LinkOf, nowMs: number): void {
    setRows(this.#list, findings.slice(0, MOST_LISTED), findingRow, (row, finding) => {
      const [sign, subject, what, remedy, time] = row.children as unknown as HTMLElement[];
      row.dataset['tone'] = finding.tone;
      setIcon(sign!, finding.shape);
      const link = finding.agents.length === 1 ? linkOf(finding.agents[0]!) : undefined;
      const name = nameIn(finding.sentence, link);
      const anchor = subject!.firstElementChild as HTMLAnchorElement;
      setText(anchor, name ?? finding.word);
      if (link === undefined) anchor.removeAttribute('href');
      else if (anchor.getAttribute('href') !== link.address) anchor.href = link.address;
      const rest = finding.sentence.slice(name?.length ?? 0).replace(/^[:,]?\s*/, '');
      setText(what!, `${capital(rest)}.`);
      setText(remedy!.firstElementChild!, finding.advice ?? '');
      aimAccept(remedy!.lastElementChild as HTMLButtonElement, finding);
      setText(time!, ageOf(finding, nowMs));
    });
  }

  #showList(): void {
    this.#list.hidden = !this.#isOpen || this.#list.children.length === 0;
    this.#button.setAttribute('aria-expanded', String(this.#isOpen));
    setIcon(this.#arrow, this.#isOpen ? 'up' : 'down');
  }
}

function ageOf({ kind, sinceMs }: Finding, nowMs: number): string {
  if (sinceMs === undefined) return '';
  const age = spanText(Math.max(0, nowMs - sinceMs));
  return kind === 'ended' ? `${age} ago` : `for ${age}`;
}

/** On a phone the list opens only if the reader asks for it. */
function hasRoom(): boolean {
  return innerWidth > PHONE_PX && mayMove();
}

function findingRow(): HTMLElement {
  const subject = element('b', {}, element('a'));
  return element(
    'li',
    {},
    icon('tick'),
    subject,
    element('span'),
    element('span', { class: 'remedy' }, element('span'), acceptButton()),
    element('time'),
  );
}

/** Returns the name with which a sentence begins. */
function nameIn(sentence: string, link: AgentLink | undefined): string | undefined {
  return link?.names.find((name) => sentence.startsWith(name));
}

/** Makes the agent's name a link, and the part before the colon of a good verdict bold. */
function sentenceParts(text: string, link: AgentLink | undefined, isBoldBegin: boolean): (Node | string)[] {
  const name = nameIn(text, link);
  if (name !== undefined) return [element('a', { href: link!.address }, named(name)), text.slice(name.length)];
  const colon = text.indexOf(':');
  if (isBoldBegin && colon > 0) return [element('b', {}, text.slice(0, colon)), text.slice(colon)];
  return [capital(text)];
}

function capital(text: string): string {
  return text.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase());
}

/** The header: host, state of the page, time, span, and buttons. */
import type { AgentsAnswer } from '../../view/answers/answer.js';
import { timeOfDay, timeZone } from '../../ground/figures/clock.js';
import type { ServedAgent } from '../../view/model/agent-model.js';
import { byId, icon, setAttribute, setIcon, setText } from './common/dom.js';
import { SPANS_S, type ViewState } from './view.js';

export type PageState = 'loading' | 'live' | 'stale' | 'empty' | 'paused';

const WORDS: Readonly<Record<PageState, string>> = {
  loading: 'Loading',
  live: 'Live',
  stale: 'Stale',
  empty: 'Waiting',
  paused: 'PAUSED',
};

export interface HeaderActions {
  readonly onSpan: (seconds: number) => void;
  readonly onPause: () => void;
  readonly onHelp: () => void;
}

export class Header {
  readonly #pause = icon('pause');
  readonly #zone = timeZone();

  constructor({ onSpan, onPause, onHelp }: HeaderActions) {
    SPANS_S.forEach((seconds, i) => {
      byId('spans').children[i]!.addEventListener('click', () => onSpan(seconds));
    });
    byId('pause').append(this.#pause);
    byId('pause').addEventListener('click', onPause);
    byId('full-screen').addEventListener('click', toggleFullScreen);
    byId('full-screen').hidden = !document.fullscreenEnabled;
    byId('help-button').addEventListener('click', onHelp);
  }

  show(state: PageState, shownMs: number, { spanS, zoom }: ViewState): void {
    setAttribute(document.documentElement, 'data-state', state);
    setText(byId('state'), WORDS[state]);
    setText(byId('clock'), state === 'loading' ? '' : `${state === 'stale' ? 'last seen ' : ''}${timeOfDay(shownMs)}`);
    setText(byId('zone'), this.#zone);
    SPANS_S.forEach((seconds, i) => {
      const isChosen = zoom === undefined && seconds === spanS;
      setAttribute(byId('spans').children[i]!, 'aria-pressed', String(isChosen));
    });
    setAttribute(byId('pause'), 'aria-pressed', String(state === 'paused'));
    const text = state === 'paused' ? 'Resume (Space)' : 'Pause (Space)';
    setAttribute(byId('pause'), 'aria-label', text);
    setAttribute(byId('pause'), 'title', text);
    setIcon(this.#pause, state === 'paused' ? 'play' : 'pause');
  }

  name({ hostname, version }: AgentsAnswer<ServedAgent>): void {
    setText(byId('host'), hostname);
    setText(byId('version'), `nixl-otel ${version}`);
  }
}

export function toggleFullScreen(): void {
  if (document.fullscreenElement === null) void document.documentElement.requestFullscreen();
  else void document.exitFullscreen();
}

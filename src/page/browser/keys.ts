/** Keys of the whole page. */

export interface KeyActions {
  readonly search: () => void;
  readonly moveAgent: (steps: number) => void;
  readonly openAgent: () => void;
  /** Closes, clears or zooms out: the innermost thing first. */
  readonly escape: () => void;
  readonly problems: () => void;
  readonly span: (seconds: number) => void;
  readonly moveCursor: (steps: number, isSelecting: boolean) => void;
  /** Returns false if nothing is selected. */
  readonly zoom: () => boolean;
  readonly pause: () => void;
  readonly top: () => void;
  readonly theme: () => void;
  readonly fullScreen: () => void;
  readonly agents: () => void;
  readonly help: () => void;
}

export function listenToKeys(actions: KeyActions): void {
  const keys: Readonly<Record<string, () => void>> = {
    '/': actions.search,
    j: () => actions.moveAgent(1),
    k: () => actions.moveAgent(-1),
    Escape: actions.escape,
    '!': actions.problems,
    '1': () => actions.span(60),
    '5': () => actions.span(300),
    '0': () => actions.span(600),
    v: actions.top,
    t: actions.theme,
    f: actions.fullScreen,
    g: actions.agents,
    '?': actions.help,
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    if (target.closest('dialog') !== null) return;
    if (target instanceof HTMLInputElement && event.key !== 'Escape') return;
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      event.preventDefault();
      actions.moveCursor(event.key === 'ArrowLeft' ? -1 : 1, event.shiftKey);
      return;
    }
    // A button or link with the focus has these two keys for itself.
    if (event.key === 'Enter' || event.key === ' ') {
      if (target.closest('button, a, summary') !== null) return;
      event.preventDefault();
      if (event.key === ' ') actions.pause();
      else if (!actions.zoom()) actions.openAgent();
      return;
    }
    const action = keys[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}

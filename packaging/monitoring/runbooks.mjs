/** Paths of the runbooks, of which each alert has one. */

const RUNBOOKS = 'docs/runbooks.md';
/** Variable of a dashboard: the address of the repository's files, with a slash at its end. */
export const BASE = 'runbooks';

export function runbookOf(alert) {
  return `${RUNBOOKS}#${alert.toLowerCase()}`;
}

/** Returns the description of a panel, with the runbooks of these alerts. */
export function withRunbook(text, ...alerts) {
  return [text, ...alerts.map((alert) => `Runbook: ${linkTo(runbookOf(alert))}`)].join('\n\n');
}

export function withRunbooks(text) {
  return `${text} Runbooks: ${linkTo(RUNBOOKS)}`;
}

/** Markdown. The text is the path, because without a base the link leads nowhere. */
function linkTo(place) {
  return `[${place}](\${${BASE}}${place})`;
}

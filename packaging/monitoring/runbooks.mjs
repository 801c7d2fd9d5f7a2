/** Paths of the runbooks, of which each alert has one. */

const RUNBOOKS = 'docs/runbooks.md';

export function runbookOf(alert) {
  return `${RUNBOOKS}#${alert.toLowerCase()}`;
}

/** Returns the description of a panel, with the runbooks of these alerts. */
export function withRunbook(text, ...alerts) {
  return [text, ...alerts.map((alert) => `Runbook: ${runbookOf(alert)}`)].join('\n\n');
}

/** Addresses of the runbooks, of which each alert has one. */
import { readFileSync } from 'node:fs';

const { name } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const RUNBOOKS = 'docs/runbooks.md';
/** Address of the files of the package: unpkg.com has those of every package of npm. */
export const RUNBOOK_BASE = `https://unpkg.com/${name}/`;
/** Variable of a dashboard that holds this address, or another one. */
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

/** Markdown. */
function linkTo(place) {
  return `[${place}](\${${BASE}}${place})`;
}

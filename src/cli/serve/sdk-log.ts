/** Hides the SDK's log lines about failed exports, which serve reports itself; logs its other lines once each. */
import { hideRepetitions, type NoteLevel } from '../process/output.js';
import { currentOwner, noteHttpStatus } from './owners.js';

const MAX_REMEMBERED = 100;

export function followExports(): void {
  const logged = new Set<string>();
  noteHttpStatus();
  hideRepetitions((level: NoteLevel, line: string) => {
    if (currentOwner()?.isBuiltIn !== true) return false;
    // "Export retry time ... exceeds", "Export failed with ...": at nearly every interval while a receiver is down.
    if (level === 'info') return true;
    const kind = line.replaceAll(/\d+/g, '0');
    if (logged.has(kind) || logged.size >= MAX_REMEMBERED) return true;
    logged.add(kind);
    return false;
  });
}

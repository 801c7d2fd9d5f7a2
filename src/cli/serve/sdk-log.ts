/** What the SDK's exporters log about an export: its failure is in the one line that reports it, all else is said once. */
import { hideRepetitions, type NoteLevel } from '../output.js';
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

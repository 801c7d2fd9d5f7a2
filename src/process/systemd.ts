/** Reports to systemd. */
import { execFile } from 'node:child_process';
import { reasonOf } from '../ground/errors.js';
import { note } from './output.js';

/** Reports that the service has started, and its status, if it runs as a unit of `Type=notify`. */
export function reportToSystemd(status: string): void {
  if (process.env['NOTIFY_SOCKET'] === undefined) return;
  execFile('systemd-notify', ['--ready', `--status=${status}`], (error) => {
    if (error !== null) note(`systemd cannot be notified: ${reasonOf(error)}`, 'warning');
  });
}

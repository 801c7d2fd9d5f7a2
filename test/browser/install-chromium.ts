/** In CI, installs a missing Chromium from Debian: a skipped test would hide failures there. */
import { spawnSync } from 'node:child_process';
import { chromiumPath } from './chromium.mjs';

export default function setup(): void {
  if (chromiumPath() !== undefined) return;
  if (!process.env['CI']) {
    console.log(
      'The tests of the live page are skipped: there is no Chromium (apt-get install chromium, or set CHROMIUM)',
    );
    return;
  }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium', 'fonts-dejavu-core']]) {
    const { status, stderr, error } = spawnSync('apt-get', args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`apt-get ${args.join(' ')}: ${error?.message ?? stderr}`);
  }
}

/** By which way bytes go, in `list --sizes` and as labels of nixl_agent_info, of a real serve and memory that really moves. */
import { expect, it } from 'vitest';
import { samplesOf } from '../../support/page.js';
import { scrape, start, startTransferSource, temporaryDirectory, until } from '../command.js';
import { runHere } from '../in-process.js';

it('is known of a serve once it is certain, and labels a series after a minute', async () => {
  const directory = temporaryDirectory();
  startTransferSource(['--dir', directory, '--seconds', '0', '--rate', '50', '--sizes', '4M']);
  const serve = start(['serve', '--dir', directory, '--port', '0', '--naming', 'nixl']);
  const [, url] = await serve.says(/serves (http:\/\/\S+)/);
  const list = async (...args: string[]) => (await runHere(['list', '--sizes', ...args])).stdout;
  const { origin } = new URL(url!);
  await until(async () => (await list('--url', origin)).includes('agent-0'));
  expect(await list('--url', origin)).not.toContain('WAY');
  await until(async () => /^agent-0 .* neither( few)?$/m.test(await list('--url', origin)));
  expect(await list('--url', origin)).toMatch(/^AGENT .* POST P50 +WAY\n/);
  const rows = (await list('--url', origin, '--json')).trim().split('\n');
  expect(rows.map((row) => (JSON.parse(row) as { way?: string }).way)).toContain('neither');
  expect(await list('--dir', directory)).not.toContain('WAY');

  const info = async () => samplesOf(await scrape(url!)).filter(({ name }) => name === 'nixl_agent_info');
  const ways = async () => (await info()).flatMap(({ labels }) => [labels['way_tx'], labels['way_rx']].filter(Boolean));
  await until(async () => (await ways()).length > 0);
  expect(new Set(await ways())).toEqual(new Set(['neither']));
  expect(await info()).toHaveLength(1);
});

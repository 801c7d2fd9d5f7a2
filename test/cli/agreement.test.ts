/** list, read and `read --summary` count what transfer-source wrote, to the unit. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { amount } from '../../src/cli/figures/formats.js';
import type { Totals } from '../support/live.js';
import { run, startTransferSource, temporaryDirectory } from './command.js';

describe.each([['1'], ['4']])('with wire version %s', (wireVersion) => {
  it('list, read and its summary agree with the totals of three agents', async () => {
    const directory = temporaryDirectory();
    const flags = ['--dir', directory, '--agents', '3', '--transfers', '700', '--rate', '0', '--errors', '10'];
    const source = await startTransferSource([...flags, '--sizes', '4k:50,64k:50', '--wire-version', wireVersion])
      .ended;
    const { agents, totals } = JSON.parse(source.stdout.trim().split('\n').at(-1)!) as Totals;

    const listed = (await run(['list', '--json', '--dir', directory])).stdout.trim().split('\n');
    const pending = listed.map((line) => JSON.parse(line) as { agent: string; pending: number });
    expect(pending.map(({ agent, pending }) => [agent, pending])).toEqual(
      agents.map((one) => [one.agent, one.written]),
    );

    const files = readdirSync(directory).map((name) => path.join(directory, name));
    const { stdout, stderr } = await run(['read', '--summary', '--format', 'json', ...files]);
    const sums = new Map<string, { count: number; sum: bigint }>();
    for (const line of stdout.trim().split('\n')) {
      const { event, value } = JSON.parse(line) as { event: string; value: number };
      const before = sums.get(event) ?? { count: 0, sum: 0n };
      sums.set(event, { count: before.count + 1, sum: before.sum + BigInt(value) });
    }
    // Rings of wire version 1 have the names of statuses as events.
    const nameOf = (event: string): string => event.replace('NIXL_ERR_', 'agent_err_').toLowerCase();
    const written = Object.entries(totals.events).map(
      ([event, { count, sum }]) => [event, Number(count), BigInt(sum)] as const,
    );
    expect([...sums].map(([event, { count, sum }]) => [nameOf(event), count, sum]).sort()).toEqual(written.sort());
    expect(stderr).toContain(`${totals.written} of ${totals.written} events printed, from 3 rings`);
    const table = stderr.split('\n').map(nameOf).join('\n');
    for (const [event, count] of written) expect(table).toMatch(new RegExp(`^${event} +${amount(count)} `, 'm'));
    expect(totals.written).toBeGreaterThan(3 * 700);
  });
});

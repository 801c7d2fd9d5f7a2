/** The page, top, list, read and `read --summary` count what transfer-source wrote, to the unit. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { numberText } from '../../src/ground/figures/figure.js';
import type { AgentsAnswer } from '../../src/view/answers/answer.js';
import { allDrained, type Totals } from '../support/live.js';
import { start, startTransferSource, temporaryDirectory, until } from './command.js';
import { runHere } from './in-process.js';

describe.each([['1'], ['4']])('with wire version %s', (wireVersion) => {
  it('list, read and its summary agree with the totals of three agents', async () => {
    const directory = temporaryDirectory();
    const flags = ['--dir', directory, '--agents', '3', '--transfers', '700', '--rate', '0', '--errors', '10'];
    const source = await startTransferSource([...flags, '--sizes', '4k:50,64k:50', '--wire-version', wireVersion])
      .ended;
    const { agents, totals } = JSON.parse(source.stdout.trim().split('\n').at(-1)!) as Totals;

    const listed = (await runHere(['list', '--json', '--dir', directory])).stdout.trim().split('\n');
    const pending = listed.map((line) => JSON.parse(line) as { agent: string; pending: number });
    expect(pending.map(({ agent, pending }) => [agent, pending])).toEqual(
      agents.map((one) => [one.agent, one.written]),
    );

    const files = readdirSync(directory).map((name) => path.join(directory, name));
    const { stdout, stderr } = await runHere(['read', '--summary', '--format', 'json', ...files]);
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
    for (const [event, count] of written) expect(table).toMatch(new RegExp(`^${event} +${numberText(count)} `, 'm'));
    expect(totals.written).toBeGreaterThan(3 * 700);
  });
});

interface Sums {
  txBytes: number;
  rxBytes: number;
  requests: number;
  errors: number;
}

/** Sums of each agent, by the events that read prints. */
function sumsOf(lines: string): Record<string, Sums & { events: number }> {
  const agents: Record<string, Sums & { events: number }> = {};
  for (const line of lines.trim().split('\n')) {
    const { agent, event, value } = JSON.parse(line) as { agent: string; event: string; value: number };
    const sums = (agents[agent] ??= { txBytes: 0, rxBytes: 0, requests: 0, errors: 0, events: 0 });
    sums.events++;
    if (event === 'agent_tx_bytes') sums.txBytes += value;
    if (event === 'agent_rx_bytes') sums.rxBytes += value;
    if (event === 'agent_tx_requests_num' || event === 'agent_rx_requests_num') sums.requests += value;
    if (/^(agent_err_|NIXL_ERR_)/.test(event)) sums.errors += value;
  }
  return agents;
}

it.each(['1', '4'])(
  'page, top on rings and at an address, and read agree on each ring (wire version %s)',
  async (wire) => {
    const directory = temporaryDirectory();
    const flags = ['--dir', directory, '--agents', '3', '--transfers', '500', '--rate', '0', '--errors', '10'];
    const { stdout } = await startTransferSource([...flags, '--wire-version', wire]).ended;
    const source = JSON.parse(stdout.trim().split('\n').at(-1)!) as Totals;
    const files = source.agents.map(({ agent }) => path.join(directory, agent));
    const read = sumsOf((await runHere(['read', '--format', 'json', ...files])).stdout);

    const topOf = async (args: readonly string[]) => {
      const { stdout } = await runHere(['top', ...args, '--once', '--json', '--interval', '100']);
      const { agents } = JSON.parse(stdout) as { agents: { agent: string; totals: Sums }[] };
      return Object.fromEntries(agents.map(({ agent, totals }) => [agent, totals]));
    };
    const onRings = await topOf(['--dir', directory, '--all']);

    const serve = start(['serve', '--dir', directory, '--port', '0', '--dead-ttl', '86400000']);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    await allDrained(directory);
    const page = await until(async () => {
      const answer = (await (await fetch(new URL('/api/v1/agents', url))).json()) as AgentsAnswer;
      return answer.agents.reduce((sum, { events }) => sum + events, 0) === source.totals.written && answer;
    });
    const onPage = page.agents.map(({ agent, txBytes, rxBytes, txRequests, rxRequests, errors, events }) => {
      const sums = {
        txBytes,
        rxBytes,
        requests: txRequests + rxRequests,
        errors: errors.reduce((all, one) => all + one, 0),
      };
      return [agent, { ...sums, events }] as const;
    });
    const listed = (await runHere(['list', '--json', '--dir', directory])).stdout.trim().split('\n');
    const rings = listed.map((line) => JSON.parse(line) as { agent: string; pending: number });

    const written = source.agents.map(({ agent, written: events }) => [agent, events] as const);
    // In the order of their first events.
    const counts = Object.entries(read).map(([agent, { events }]) => [agent, events] as const);
    expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(written));
    const all = Object.values(read);
    for (const [event, sum] of [
      ['agent_tx_bytes', all.reduce((bytes, { txBytes }) => bytes + txBytes, 0)],
      ['agent_rx_bytes', all.reduce((bytes, { rxBytes }) => bytes + rxBytes, 0)],
    ] as const) {
      expect(Number(source.totals.events[event]!.sum)).toBe(sum);
    }
    expect(Object.fromEntries(onPage)).toEqual(read);
    const withoutEvents = Object.entries(read).map(([agent, { events: _, ...sums }]) => [agent, sums] as const);
    expect(onRings).toEqual(Object.fromEntries(withoutEvents));
    expect(await topOf(['--url', url!])).toEqual(onRings);
    expect(rings.map(({ agent, pending }) => [agent, pending])).toEqual(written.map(([agent]) => [agent, 0]));
    const { txBytes, errors } = read['agent-0']!;
    expect([txBytes > 0, errors > 0]).toEqual([true, true]);
  },
);

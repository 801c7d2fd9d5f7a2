/** top, on real rings in real processes: its numbers equal those of the agents, and it drains nothing. */
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import type { Totals } from '../support/live.js';
import {
  type RunningCommand,
  scrape,
  start,
  startTransferSource,
  temporaryDirectory,
  until,
  valueOf,
} from './command.js';
import { runHere } from './in-process.js';

interface JsonLine {
  notes: string[];
  txBytesPerSecond: number;
  lostMore: boolean;
  agents: {
    agent: string;
    host?: string;
    state: string;
    pid?: number;
    missed: boolean;
    fill: number;
    transferTimeUs: { p50: number | null; p90: number | null; p99: number | null; max: number | null };
    totals: { txBytes: number; rxBytes: number; requests: number; errors: number };
  }[];
}

/** Flags for a ring that keeps all events for longer than a test takes. */
const ROOMY = ['--buffer-size', '65536'];
const FAST = ['--interval', '100'];

function lastLine({ stdout }: { stdout: string }): JsonLine | undefined {
  const line = stdout.slice(0, stdout.lastIndexOf('\n')).split('\n').at(-1);
  return line ? (JSON.parse(line) as JsonLine) : undefined;
}

function summed({ agents }: JsonLine): object {
  const sum = (key: 'txBytes' | 'rxBytes' | 'requests' | 'errors'): number =>
    agents.reduce((all, { totals }) => all + totals[key], 0);
  return { txBytes: sum('txBytes'), rxBytes: sum('rxBytes'), requests: sum('requests'), errors: sum('errors') };
}

/** Totals that transfer-source reports. */
function written(stdout: string): object {
  const { totals } = JSON.parse(stdout.trim().split('\n').at(-1)!) as Totals;
  expect(totals.refused).toBe(0);
  const sum = (event: string): number => Number(totals.events[event]?.sum ?? 0);
  const errors = Object.entries(totals.events).filter(([event]) => event.startsWith('agent_err_'));
  return {
    txBytes: sum('agent_tx_bytes'),
    rxBytes: sum('agent_rx_bytes'),
    requests: totals.transfersTx + totals.transfersRx,
    errors: errors.reduce((all, [, { count }]) => all + Number(count), 0),
  };
}

async function agrees(top: RunningCommand, expected: object): Promise<JsonLine> {
  return until(() => {
    const line = lastLine(top);
    const same = line !== undefined && JSON.stringify(summed(line)) === JSON.stringify(expected);
    return Promise.resolve(same && line);
  });
}

describe('nixl-otel top', () => {
  it.each([1, 4])('counts the events in rings of wire version %d, and changes no ring', async (wireVersion) => {
    const dir = temporaryDirectory();
    const flags = ['--agents', '3', '--transfers', '300', '--rate', '3000', '--errors', '10', ...ROOMY];
    const source = await startTransferSource(['--dir', dir, ...flags, '--wire-version', String(wireVersion)]).ended;
    const rings = ['agent-0', 'agent-1', 'agent-2'].map((agent) => path.join(dir, agent));
    const before = rings.map((ring) => readFileSync(ring));
    const { code, stdout, stderr } = await runHere(['top', '--dir', dir, '--once', '--json', '--all', ...FAST]);
    expect(summed(lastLine({ stdout })!)).toEqual(written(source.stdout));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    rings.forEach((ring, i) => expect(readFileSync(ring).equals(before[i]!)).toBe(true));
  });

  it('follows agents that start while it runs', async () => {
    const dir = temporaryDirectory();
    const top = start(['top', '--dir', dir, '--json', ...FAST]);
    await until(() => lastLine(top));
    const source = startTransferSource(['--dir', dir, '--agents', '2', '--seconds', '0', ...ROOMY]);
    const live = await until(() => {
      const line = lastLine(top)!;
      const hasTimes = line.agents.some(({ transferTimeUs: { p50 } }) => p50! > 0);
      return line.agents.length === 2 && line.txBytesPerSecond > 0 && hasTimes && line;
    });
    expect(live.agents.map(({ agent }) => agent).sort()).toEqual(['agent-0', 'agent-1']);
    expect(live.agents[0]).toMatchObject({ state: 'live', missed: false });
    for (const { transferTimeUs } of live.agents) {
      const { p50, p90, p99, max } = transferTimeUs;
      const rising = [p50, p90, p99, max].map((us) => us ?? 0);
      expect(rising).toEqual(rising.toSorted((a, b) => a - b));
    }
    await until(() => lastLine(top)!.agents.every(({ pid }) => pid === source.child.pid));
    const { stdout } = await source.stop();
    await agrees(top, written(stdout));
    await until(() => lastLine(top)!.agents.every(({ state }) => state === 'dead'));
    expect(await top.stop()).toMatchObject({ code: 0, stderr: '' });
  });

  it('and a serve beside it both count everything', async () => {
    const dir = temporaryDirectory();
    const source = startTransferSource([
      '--dir',
      dir,
      '--seconds',
      '0',
      '--rate',
      '500',
      '--errors',
      '5',
      ...ROOMY,
      '--ready',
    ]);
    await source.says(/ready/);
    const top = start(['top', '--dir', dir, '--json', ...FAST]);
    await until(() => lastLine(top)?.agents[0]);
    const serve = start(['serve', '--dir', dir, '--port', '0']);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    await until(async () => valueOf(await scrape(url!), 'agent_tx_bytes_total') > 0);
    await until(() => lastLine(top)!.agents[0]!.fill < 0.5);
    await until(() => lastLine(top)!.agents[0]!.pid === source.child.pid);
    const expected = written((await source.stop()).stdout) as { txBytes: number };
    const line = await agrees(top, expected);
    // serve maps the ring as its agent did, and continues to run.
    await until(() => lastLine(top)!.agents[0]!.state === 'dead');
    expect(line).toMatchObject({ lostMore: false, notes: [] });
    await until(async () => valueOf(await scrape(url!), 'agent_tx_bytes_total') >= expected.txBytes);
    expect(valueOf(await scrape(url!), 'agent_tx_bytes_total')).toBe(expected.txBytes);
  });

  it.each([
    ['its JSON', ['--page', 'on']],
    ['its text, naming nixl', ['--page', 'off', '--naming', 'nixl']],
    ['its text, naming otel', ['--page', 'off', '--naming', 'otel']],
  ])('reads a running serve by --url: %s', async (_, settings) => {
    const dir = temporaryDirectory();
    const serve = start(['serve', '--dir', dir, '--port', '0', ...settings]);
    const [, url] = await serve.says(/serves (http:\S+)\/metrics from/);
    const flags = ['--agents', '2', '--seconds', '0', '--rate', '200', '--errors', '10'];
    const top = start(['top', '--url', url!, '--json', ...FAST]);
    await until(() => lastLine(top));
    const source = startTransferSource(['--dir', dir, ...flags]);
    // A percentile covers the time between two samples.
    await until(() => lastLine(top)!.agents.some(({ transferTimeUs }) => transferTimeUs.p99! > 0));
    await agrees(top, written((await source.stop()).stdout));

    await serve.stop();
    await until(() => lastLine(top)!.notes[0]?.startsWith(`no metrics from ${url}/metrics: `));
    expect(await top.stop()).toMatchObject({ code: 0 });
  });

  it('reads several hosts by --url: one list of agents, each with its host', async () => {
    const hosts = await Promise.all(
      ['prefill', 'decode'].map(async () => {
        const dir = temporaryDirectory();
        const serve = start(['serve', '--dir', dir, '--port', '0']);
        const [, host] = await serve.says(/serves http:\/\/(\S+)\/metrics from/);
        return { dir, host: host!, serve };
      }),
    );
    const top = start(['top', ...hosts.flatMap(({ host }) => ['--url', host]), '--json', ...FAST]);
    await until(() => lastLine(top));
    const flags = ['--seconds', '0', '--rate', '200'];
    const sources = hosts.map(({ dir }) => startTransferSource(['--dir', dir, ...flags]));
    const line = await until(() => {
      const found = lastLine(top)!;
      const areMoving = found.agents.filter(({ totals }) => totals.txBytes > 0).length === 2;
      return areMoving && found.txBytesPerSecond > 0 && found;
    });
    expect(line.agents.map(({ agent, host }) => [agent, host]).sort()).toEqual(
      hosts.map(({ host }) => ['agent-0', host]).sort(),
    );
    const totals = await Promise.all(sources.map(async (source) => written((await source.stop()).stdout)));
    for (const [i, { host }] of hosts.entries()) {
      await until(() => {
        const own = lastLine(top)!.agents.filter((agent) => agent.host === host);
        return JSON.stringify(summed({ ...line, agents: own })) === JSON.stringify(totals[i]);
      });
    }
    await hosts[0]!.serve.stop();
    await until(() => lastLine(top)!.notes[0]?.startsWith(`no metrics from http://${hosts[0]!.host}/metrics: `));
    expect(lastLine(top)!.agents).toHaveLength(2);
    expect(await top.stop()).toMatchObject({ code: 0 });
  });

  it('has a bound in place of a percentile where an exporter has only buckets', async () => {
    let scrapes = 0;
    const exporter = createServer(({ url }, response) => {
      if (url !== '/metrics') return void response.writeHead(404).end();
      scrapes++;
      const upTo = Object.entries({ 10: 80, 25: 95, '+Inf': 100 });
      const name = 'agent_xfer_time_us_bucket';
      response.end(upTo.map(([le, count]) => `${name}{agent_name="a",le="${le}"} ${count * scrapes}\n`).join(''));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void exporter.close());
    await once(exporter, 'listening');
    const url = `http://127.0.0.1:${(exporter.address() as AddressInfo).port}`;
    const [json, text] = [
      await runHere(['top', '--url', url, '--once', '--json']),
      await runHere(['top', '--url', url, '--once']),
    ];
    expect(lastLine(json)!.agents).toMatchObject([
      { transferTimeUs: { p50: null, p50Below: 10, p90: 20, p99: null, p99Above: 25, max: null } },
    ]);
    expect(text.stdout).toMatch(/ <10µs +20µs +>25µs +- /);
  });

  it('prints a line per agent if there is no terminal, and a heading once', async () => {
    const dir = temporaryDirectory();
    await startTransferSource(['--dir', dir, '--agents', '2', '--seconds', '0', '--ready']).says(/ready/);
    const { code, stdout, stderr } = await runHere(['top', '--dir', dir, '--count', '3', '--sort', 'agent', ...FAST]);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^TIME +AGENT +TX\/s +RX\/s +REQ\/s +P50 +P90 +P99 +MAX +POST +ERR\/s +LOST +FILL +IDLE$/);
    expect(lines.slice(1).map((line) => line.split(/ +/)[2])).toEqual(Array(3).fill(['agent-0', 'agent-1']).flat());
    for (const line of lines) expect(line.split(/ +/)).toHaveLength(line === lines[0] ? 14 : 15);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('reports a full ring without a consumer', async () => {
    const dir = temporaryDirectory();
    startTransferSource(['--dir', dir, '--seconds', '0', '--rate', '2000', '--buffer-size', '16']);
    const top = start(['top', '--dir', dir, ...FAST]);
    await top.says(/agent-0 is full: no consumer drains/);
    await top.says(/\d\+ 100% /);
  });

  it('ends without an error when the reader of its output ends', async () => {
    const dir = temporaryDirectory();
    startTransferSource(['--dir', dir, '--seconds', '0']);
    const top = start(['top', '--dir', dir, ...FAST]);
    await top.says(/agent-0/);
    top.child.stdout!.destroy();
    expect(await top.ended).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('nixl-otel top ends', () => {
  const once = (...args: string[]) => runHere(['top', '--once', ...FAST, ...args]);

  it('with 3 when there are no rings', async () => {
    const dir = temporaryDirectory();
    expect(await once('--dir', dir)).toMatchObject({
      code: 3,
      stdout: '',
      stderr: `nixl-otel: error: no rings in ${dir}\n`,
    });
    const missing = path.join(dir, 'missing');
    const { code, stderr } = await once('--dir', missing);
    expect(stderr).toContain(`${missing} cannot be read: it does not exist; agents do not create it\n`);
    expect(code).toBe(3);
  });

  it('with a note, once, when it prints no line', async () => {
    const dir = temporaryDirectory();
    for (const name of ['decode-0', 'decode-1']) new RingWriter(path.join(dir, name), { wireVersion: 4 }).close();
    const old = 'nixl-otel: warning: 2 old files without a writer: --all shows them\n';
    const none = 'nixl-otel: warning: no agent matches prefill\n';
    const top = (...args: string[]) => runHere(['top', '--dir', dir, '--count', '2', ...FAST, ...args]);
    expect(await top()).toMatchObject({ code: 0, stdout: '', stderr: old });
    expect(await top('--filter', 'decode')).toMatchObject({ code: 0, stdout: '', stderr: old });
    expect(await top('--filter', 'prefill')).toMatchObject({ code: 0, stdout: '', stderr: none });
    expect((await top('--all')).stderr).toBe('');
  });

  it('with 4 if there is only a broken ring, and with 0 if there is also a good ring', async () => {
    const dir = temporaryDirectory();
    writeFileSync(path.join(dir, 'broken\x1b[2J'), 'x'.repeat(100));
    const { code, stdout, stderr } = await once('--dir', dir);
    expect(stderr).toContain('broken\\x1b[2J is corrupt: not a NIXL ring');
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });

    new RingWriter(path.join(dir, 'agent\u202e'), { wireVersion: 4 }).close();
    const good = await once('--dir', dir, '--all');
    expect(good.stdout).toContain('agent\\u{202e}');
    expect(good.stderr).toContain('warning');
    expect(good.code).toBe(0);
  });

  it.skipIf(process.getuid?.() === 0)('with 5 without permission', async () => {
    const file = path.join(temporaryDirectory(), 'agent');
    new RingWriter(file, { wireVersion: 4 }).close();
    chmodSync(file, 0);
    expect((await once('--dir', path.dirname(file))).code).toBe(5);
  });

  it('with 1 if no server answers at --url, and with 3 if the exposition has no agents', async () => {
    const { code, stderr } = await once('--url', 'http://127.0.0.1:1/x');
    expect(stderr).toMatch(/no metrics from http:\/\/127\.0\.0\.1:1\/x: /);
    expect(code).toBe(1);
    const serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0']);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    expect(await once('--url', url!)).toMatchObject({ code: 3, stderr: `nixl-otel: error: no agents at ${url}\n` });
  });

  it.each([
    [[], '--dir <dir> or --url <url>'],
    [
      ['--url', 'ftp://localhost:9464'],
      'Allowed: host, host:port, unix:/path, or an address that begins with http:// or https://.',
    ],
    [['--url', 'a b'], 'host:port'],
    [
      ['--url', 'http://%zz@localhost'],
      "'--url <url>' argument 'http://%zz@localhost' is invalid. Allowed in user and",
    ],
    [['--url', 'http://a:%ff@localhost'], 'UTF-8, percent-encoded'],
    [['--dir', '/x', '--url', 'http://localhost'], 'exclude each other'],
    [['--dir', '/x', '--once', '--no-mouse'], '--no-mouse and --once exclude each other: there is no screen'],
    [['--dir', '/x', '--interval', '99'], 'from 100 to 3600000'],
    [['--dir', '/x', '--sort', 'speed'], 'Allowed choices are'],
  ])('with 2 after %j', async (args, allowed) => {
    const { code, stdout, stderr } = await runHere(['top', ...args]);
    expect(stderr).toContain(allowed);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

it('list and top find the same rings, folders below included', async () => {
  const dir = temporaryDirectory();
  mkdirSync(path.join(dir, 'a'));
  for (const agent of ['a/b', 'c']) new RingWriter(path.join(dir, agent), { wireVersion: 3 }).close();
  const names = ({ stdout }: { stdout: string }): string[] =>
    [...stdout.matchAll(/"agent":"([^"]+)"/g)].map(([, name]) => name!);
  const [list, top] = await Promise.all([
    runHere(['list', '--dir', dir, '--json']),
    runHere(['top', '--dir', dir, '--once', '--json', '--all', '--sort', 'agent', ...FAST]),
  ]);
  expect(names(top)).toEqual(names(list));
  expect(names(top)).toEqual(['a/b', 'c']);
});

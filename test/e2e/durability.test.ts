/** Serve killed with -9 and started again, over real rings: all numbers of an agent continue. */
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exponentialCount } from '../../src/ground/exponential.js';
import type { AgentsAnswer } from '../../src/view/answers/answer.js';
import { RingWriter, type WriteEvent } from '../../src/rings.js';
import { type RunningCommand, run, scrape, start, temporaryDirectory, until, valueOf } from '../cli/command.js';
import { MAY_BE_NOBODY, NOBODY, startAsNobody } from '../support/as-nobody.js';
import { allDrained } from '../support/live.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';
import { familiesIn, type Family, textOf } from '../support/prometheus-families.js';
import { RingProcess } from '../support/ring-process.js';
import { eventsFor, pushAll } from '../support/rings.js';

const STATE_FOLDER = '.nixl-otel';
const PROTOBUF = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited';
/** Series of serve itself, and series whose values change although no event arrives. */
const OF_PROCESS_OR_TIME =
  /^(process_|nixl_(collector|exporter|builders)_|nixl_findings|nixl_agent_idle|nixl_ring_full_time|nixl_ring_utilization)/;

class Serve {
  readonly command: RunningCommand;
  readonly url: string;

  private constructor(command: RunningCommand, url: string) {
    this.command = command;
    this.url = url;
  }

  static async over(directory: string, flags: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Serve> {
    const fixed = ['serve', '--dir', directory, '--port', '0', '--dead-ttl', '600000'];
    const command = start([...fixed, ...flags], env);
    return new Serve(command, (await command.says(/serves (http:\S+) from/))[1]!);
  }

  page(): Promise<string> {
    return scrape(this.url);
  }

  async number(name: string, label = ''): Promise<number> {
    return valueOf(await this.page(), name, label);
  }

  /** Families of the agent's series. */
  async families(): Promise<Family[]> {
    const answer = await fetch(this.url, { headers: { accept: PROTOBUF } });
    const all = familiesIn(new Uint8Array(await answer.arrayBuffer()));
    return all.filter(({ name }) => !OF_PROCESS_OR_TIME.test(name) && name !== 'target_info');
  }

  async answer(): Promise<AgentsAnswer> {
    return (await fetch(new URL('/api/v1/agents', this.url))).json() as Promise<AgentsAnswer>;
  }

  async kill(): Promise<void> {
    expect(await this.command.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
  }
}

/** Returns each series with its start time. */
function startTimes(families: readonly Family[]): Record<string, number> {
  const series = families.flatMap(({ name, metric = [] }) =>
    metric.map(({ label = [], counter, histogram }) => {
      const times = (counter ?? histogram)?.createdTimestamp;
      return [`${name}${JSON.stringify(label)}`, times && times.seconds * 1e9 + times.nanos] as const;
    }),
  );
  return Object.fromEntries(series.filter(([, time]) => time !== undefined)) as Record<string, number>;
}

/** Returns all numbers, without start times. */
function numbersOf(families: readonly Family[]): unknown {
  // Each serve looks for writers at its own times.
  const counted = families.filter(({ name }) => name !== 'nixl_ring_writers');
  return JSON.parse(JSON.stringify(counted, (key, value: unknown) => (key === 'createdTimestamp' ? undefined : value)));
}

/** Two rings with the same events: the serve of one is killed, the serve of the other is not. */
class Twins {
  readonly directories = [temporaryDirectory(), temporaryDirectory()] as const;
  readonly #wireVersion: number;
  #writers: RingWriter[] = [];
  /** Number of events that each ring got. */
  written = 0;

  constructor(wireVersion: number) {
    this.#wireVersion = wireVersion;
    this.restart();
    onTestFinished(() => this.#close());
  }

  /** The agents start, again. */
  restart(): void {
    this.#close();
    const options = { wireVersion: this.#wireVersion, capacity: 256 };
    this.#writers = this.directories.map((directory) => new RingWriter(path.join(directory, 'agent'), options));
  }

  write(events: readonly WriteEvent[]): void {
    for (const writer of this.#writers) pushAll(writer, events);
    this.written += events.length;
  }

  fill(): void {
    while (this.#writers.every((writer) => writer.push({ type: 0, value: 1n }))) this.written++;
  }

  drained(): Promise<void> {
    return allDrained(...this.directories);
  }

  #close(): void {
    for (const writer of this.#writers) writer.close();
  }
}

/** A transfer in wire versions 2 and up: time, bytes, request. */
function transfer(value: bigint): WriteEvent[] {
  return [
    { type: 6, value },
    { type: 0, value },
    { type: 2, value: 1n },
  ];
}

describe('serve killed with -9 and started again', () => {
  it.each([1, 4])('exports the same as one that was never killed, wire version %i', async (wireVersion) => {
    const twins = new Twins(wireVersion);
    const [directory, other] = twins.directories;
    const flags = ['--series', 'full'];
    twins.fill(); // each serve finds the ring full once
    const [first, unkilled] = await Promise.all([Serve.over(directory, flags), Serve.over(other, flags)]);
    let serve = first;
    let times: Record<string, number> = {};
    for (let round = 0; round < 3; round++) {
      await twins.drained();
      if (round === 2) twins.restart();
      twins.write(eventsFor(wireVersion));
      const [time, ...rest] = transfer(BigInt(1000 + round));
      twins.write([time!]);
      await twins.drained();
      times = { ...startTimes(await serve.families()), ...times };
      await serve.kill(); // in the middle of a transfer
      const drained = twins.written;
      twins.write(rest);
      if (round % 2 === 0) twins.write(eventsFor(wireVersion));
      serve = await Serve.over(directory, flags);
      await twins.drained();
      // The search for writers takes some passes.
      await until(
        async () => (await serve.number('nixl_ring_writers')) === (await unkilled.number('nixl_ring_writers')),
      );
      const families = await serve.families();
      expect(numbersOf(families)).toEqual(numbersOf(await unkilled.families()));
      expect(families.flatMap(textOf).filter((line) => !line.startsWith('#')).length).toBeGreaterThan(200);
      expect(startTimes(families)).toMatchObject(times);
      const [, count] = await serve.command.says(/recovered 1 agent with (\S+) events, counted since 2/);
      expect(Number(count!.replaceAll(',', ''))).toBe(drained);
    }
    expect(await serve.number('nixl_ring_full_total')).toBe(1);
    expect(await serve.number('nixl_agent_restarts_total')).toBe(1);
    expect(await serve.number('nixl_events_total')).toBe(twins.written);
    expect(await serve.number('nixl_collector_problems')).toBe(0);
    expect(serve.command.stderr.match(/recovered/g)).toHaveLength(1);
  });

  it('continues the figures of the live page', async () => {
    const directory = temporaryDirectory();
    const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 });
    for (const event of transfer(4096n)) writer.push(event);
    const first = await Serve.over(directory);
    await allDrained(directory);
    const before = await first.answer();
    await first.kill();
    for (const event of transfer(100n)) writer.push(event);
    const second = await Serve.over(directory);
    await allDrained(directory);
    const after = await until(async () => {
      const answer = await second.answer();
      return answer.agents[0]?.txBytes === 4196 && answer;
    });
    expect(after.startedMs).toBeGreaterThan(before.startedMs);
    expect(after.agents[0]!.startTimeMs).toBe(before.agents[0]!.startTimeMs);
    expect(after.agents[0]!.startTimeMs).toBeLessThan(after.startedMs);
    expect(exponentialCount(after.agents[0]!.transferTimesUs)).toBe(2);
    const top = await run(['top', '--url', second.url, '--once', '--interval', '100', '--json']);
    expect(JSON.parse(top.stdout)).toMatchObject({
      agents: [{ agent: 'agent', txBytesPerSecond: 0, totals: { txBytes: 4196 } }],
    });
  });
});

describe('serve started again with other settings', () => {
  /** Events of all kinds, and transfers in all buckets. The last one is not finished: the next round ends it. */
  function eventsOf(round: number): WriteEvent[] {
    const sizes = Array.from({ length: 60 }, (_, i) => BigInt(Math.floor(1.7 ** i * (round + 1)) % 2 ** 45));
    const [time, bytes, request] = transfer(BigInt(1000 + round)) as [WriteEvent, WriteEvent, WriteEvent];
    return [request, ...eventsFor(4), ...sizes.flatMap(transfer), time, bytes];
  }

  class Ring {
    readonly directory: string;
    readonly #writer: RingWriter;

    constructor(name = 'agent', directory = temporaryDirectory()) {
      this.directory = directory;
      this.#writer = new RingWriter(path.join(directory, name), { wireVersion: 4, capacity: 4096 });
      onTestFinished(() => this.#writer.close());
    }

    write(events: readonly WriteEvent[]): Promise<void> {
      pushAll(this.#writer, events);
      return allDrained(this.directory);
    }
  }

  it('exports all counts in each preset, as a serve that had this preset from the start', async () => {
    const ring = new Ring();
    const written: WriteEvent[] = [];
    const began = new Set<number>();
    for (const [round, series] of ['standard', 'nixl', 'full', 'standard'].entries()) {
      const whole = new Ring();
      const serves = await Promise.all([
        Serve.over(ring.directory, ['--series', series]),
        Serve.over(whole.directory, ['--series', series, '--state', 'off']),
      ]);
      const events = eventsOf(round);
      written.push(...events);
      await Promise.all([ring.write(events), whole.write(written)]);
      const [families, expected] = [await serves[0].families(), await serves[1].families()];
      expect(numbersOf(families)).toEqual(numbersOf(expected));
      for (const time of Object.values(startTimes(families))) began.add(time);
      expect(await serves[0].answer()).toMatchObject({ stateProblems: [] });
      for (const serve of serves) await serve.kill();
      expect(serves[0].command.stderr).not.toMatch(/at 0|state file/);
    }
    expect(began.size).toBe(1);
  });

  it('begins only histograms of other bounds at 0, and reports it once for all agents', async () => {
    const first = new Ring();
    const rings = [first, new Ring('another', first.directory)];
    const write = () =>
      Promise.all(rings.map((ring) => ring.write(Array(10).fill(transfer(20n)).flat() as WriteEvent[])));
    const serve = await Serve.over(first.directory);
    await write();
    const began = startTimes(await serve.families());
    await serve.kill();
    const changed = { NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US: '25,333' };
    let kept: Record<string, number> = {};
    for (const round of [1, 2, 3]) {
      const next = await Serve.over(first.directory, [], changed);
      await next.command.says(/recovered 2 agents/);
      if (round > 1) await write(); // what the first of these serves began is kept without an event, too
      const page = await next.page();
      const valueIn = (name: string, label = 'agent_name="another"') => valueOf(page, name, label);
      expect(valueIn('agent_xfer_time_us_count')).toBe(10 * (round - 1));
      expect(valueIn('agent_xfer_time_us_sum')).toBe(200 * (round - 1));
      expect(valueIn('agent_xfer_time_us_bucket', 'le="25"')).toBe(2 * 10 * (round - 1));
      expect(valueIn('agent_xfer_time_total')).toBe(200 * round);
      expect(valueIn('nixl_transfer_size_count')).toBe(10 * round);
      expect(valueIn('agent_tx_bytes_total')).toBe(200 * round);
      expect(valueOf(page, 'nixl_collector_problems', 'state="no_state"')).toBe(0);
      for (const [series, time] of Object.entries(startTimes(await next.families()))) {
        if (series.startsWith('agent_xfer_time_us[')) expect(time, series).toBeGreaterThan(began[series]!);
        else if (!series.startsWith('agent_xfer_post_time_us[')) expect(time, series).toBe(began[series]);
        expect(time).toBe(kept[series] ?? time);
        kept = { ...kept, [series]: time };
      }
      expect(await (await fetch(new URL('/readyz', next.url))).text()).not.toContain('state file');
      await next.kill();
      const line = 'the histograms of durations, agent_xfer_time begin at 0 in 2 agents, because an earlier process';
      expect(next.command.stderr.split(line)).toHaveLength(round === 1 ? 2 : 1);
      expect(next.command.stderr.match(/ at 0 /g) ?? []).toHaveLength(round === 1 ? 1 : 0);
    }
  });

  it('reports damaged state files once for all agents, and keeps the counts again', async () => {
    const first = new Ring();
    const rings = [first, new Ring('another', first.directory)];
    const write = () => Promise.all(rings.map((ring) => ring.write(transfer(20n))));
    const serve = await Serve.over(first.directory);
    await write();
    await serve.kill();
    for (const name of ['agent', 'another']) writeFileSync(path.join(first.directory, STATE_FOLDER, name), 'nonsense');
    const next = await Serve.over(first.directory);
    await write();
    await next.command.says(/state file of ring \S+\/agent, and of 1 other ring: its sums begin at 0/);
    expect(await next.number('nixl_collector_problems', 'state="no_state"')).toBe(0);
    expect(next.command.stderr.match(/ at 0/g)).toHaveLength(1);
    await next.kill();
    const last = await Serve.over(first.directory);
    await write();
    expect(await last.number('agent_tx_bytes_total', 'agent_name="another"')).toBe(40);
  });
});

describe('an agent that ends while no serve runs', () => {
  const attributes = [
    { name: 'rank', source: 'local_rank', type: 'integer' },
    { name: 'pod', source: { agentEnv: 'POD' }, type: 'text' },
    { name: 'process', source: 'pid', type: 'integer' },
  ];

  it('is exported with its last values and attributes until its TTL ends, and leaves no state file', async () => {
    const directory = temporaryDirectory();
    const config = path.join(temporaryDirectory(), 'nixl.json');
    writeFileSync(config, JSON.stringify({ attributes }));
    const agent = new RingProcess({ LOCAL_RANK: '3', POD: 'Blue "1"' });
    const ring = { path: path.join(directory, 'agent'), wireVersion: 4 };
    await agent.write({ ...ring, events: [{ type: 0, value: 5 }] });
    const first = await Serve.over(directory, ['--config', config]);
    const labels = `rank="3",pod="Blue \\"1\\"",process="${agent.pid}"`;
    await expect.poll(() => first.number('agent_tx_bytes_total', labels)).toBe(5);
    // The drain after the scrape commits what the scrape found out about the process.
    await until(() => readFileSync(path.join(directory, STATE_FOLDER, 'agent')).includes('LOCAL_RANK'));
    await first.kill();
    await agent.write({ ...ring, events: [{ type: 0, value: 7 }] });
    await agent.kill();

    const second = await Serve.over(directory, ['--config', config]);
    await expect.poll(() => second.number('agent_tx_bytes_total', labels)).toBe(12);
    await expect.poll(() => second.number('nixl_collector_agents', 'life="dead"')).toBe(1);
    expect(await second.page()).toMatch(new RegExp(`nixl_agent_up\\{.*${labels.replaceAll('\\', '\\\\')}.*\\} 0`));
    await second.kill();

    const third = await Serve.over(directory, ['--config', config, '--dead-ttl', '1']);
    await third.command.says(/recovered 1 agent with 2 events/);
    await until(async () => !(await third.page()).includes('agent_name="agent"'));
    await until(() => !existsSync(path.join(directory, STATE_FOLDER, 'agent')));
    expect(await third.number('nixl_collector_problems', 'no_state')).toBe(0);
  });
});

describe('OTLP', () => {
  /** The numbers of a metric in the last push of a serve that runs until the ring is drained. */
  async function pushed(directory: string, temporality: string, ...metrics: string[]) {
    const receiver = await startOtlpReceiver();
    const flags = ['--exporter', 'otlp', '--temporality', temporality, '--export-interval', '600000'];
    const serve = await Serve.over(directory, [...flags, '--otlp-endpoint', receiver.url]);
    await allDrained(directory);
    const { startedMs } = await serve.answer();
    expect(await serve.command.stop('SIGTERM')).toMatchObject({ code: 0 });
    const isAsked = ({ direction }: Record<string, string>) => direction === undefined || direction === 'transmit';
    const all = receiver.points().filter(({ attributes }) => isAsked(attributes));
    const points = metrics.map((name) => all.find(({ metric }) => metric === name)!);
    return { startedMs, points };
  }

  it('has a first delta from the recovered sums on, and cumulative sums with the first start time', async () => {
    const directory = temporaryDirectory();
    const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 });
    const write = (value: bigint) => {
      for (const event of transfer(value)) writer.push(event);
    };
    write(4096n);
    const first = await Serve.over(directory);
    await allDrained(directory);
    const [agent] = (await first.answer()).agents;
    await first.kill();
    write(100n);
    write(100n);
    const names = ['agent_tx_bytes_total', 'agent_xfer_time_us', 'nixl.transfer.size', 'nixl.agent.restarts'] as const;
    const delta = await pushed(directory, 'delta', ...names);
    expect(delta.points).toMatchObject([
      { value: 200 },
      { histogram: { count: 2, sum: 200 } },
      { histogram: { count: 2, sum: 200 } },
      { value: 0 },
    ]);
    // In whole milliseconds: a time in nanoseconds is no exact double.
    for (const { startTimeMs } of delta.points) expect(Math.abs(startTimeMs - delta.startedMs)).toBeLessThan(1);
    const cumulative = await pushed(directory, 'cumulative', ...names);
    expect(cumulative.points).toMatchObject([
      { value: 4296 },
      { histogram: { count: 3, sum: 4296 } },
      { histogram: { count: 3, sum: 4296 } },
      { value: 0 },
    ]);
    for (const { startTimeMs } of cumulative.points) expect(Math.abs(startTimeMs - agent!.startTimeMs)).toBeLessThan(1);
  });
});

describe('a serve that cannot or must not continue', () => {
  function ringWith(events: number, directory = temporaryDirectory()): { directory: string; write: () => void } {
    const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 });
    const write = () => {
      for (let i = 0; i < events; i++) writer.push({ type: 6, value: 20n });
    };
    write();
    return { directory, write };
  }

  async function readyz(serve: Serve): Promise<string> {
    const answer = await fetch(new URL('/readyz', serve.url));
    expect(answer.status).toBe(200);
    return answer.text();
  }

  it('begins at 0 with --state off, and makes no state file', async () => {
    const { directory, write } = ringWith(10);
    const off = ['--state', 'off'];
    const first = await Serve.over(directory, off);
    await expect.poll(() => first.number('nixl_events_total')).toBe(10);
    expect(existsSync(path.join(directory, STATE_FOLDER))).toBe(false);
    await first.kill();
    write();
    const second = await Serve.over(directory);
    await expect.poll(() => second.number('nixl_events_total')).toBe(10);
    await second.kill();
    write();
    const third = await Serve.over(directory, [], { NIXL_OTEL_STATE: 'off' });
    await expect.poll(() => third.number('nixl_events_total')).toBe(10);
    expect(third.command.stderr).not.toContain('recovered');
  });

  it('uses no folder behind a link, drains without it, and reports it once', async () => {
    const { directory } = ringWith(10);
    const elsewhere = temporaryDirectory();
    mkdirSync(path.join(elsewhere, 'folder'));
    symlinkSync(path.join(elsewhere, 'folder'), path.join(directory, STATE_FOLDER));
    const serve = await Serve.over(directory);
    await expect.poll(() => serve.number('nixl_events_total')).toBe(10);
    await expect.poll(() => serve.number('nixl_collector_problems', 'state="no_state"')).toBe(1);
    expect(await readyz(serve)).toContain(`warning: state file of "${path.join(directory, 'agent')}": `);
    expect(existsSync(path.join(elsewhere, 'folder', 'agent'))).toBe(false);
  });

  it.skipIf(!MAY_BE_NOBODY)('drains without state files in a directory that it cannot write', async () => {
    const { directory } = ringWith(10);
    chmodSync(directory, 0o755);
    chownSync(path.join(directory, 'agent'), NOBODY, NOBODY);
    const command = startAsNobody(['serve', '--dir', directory, '--port', '0']);
    const [, url] = await command.says(/serves (http:\S+) from/);
    await expect.poll(async () => valueOf(await scrape(url!), 'nixl_events_total')).toBe(10);
    await expect.poll(async () => valueOf(await scrape(url!), 'nixl_collector_problems', 'state="no_state"')).toBe(1);
    await command.says(/state file of ring \S+agent: /);
    expect((await fetch(new URL('/readyz', url))).status).toBe(200);
    expect(await command.stop()).toMatchObject({ code: 0 });
  });
});

it('list shows since when serve counts the events of an agent, and no state files', async () => {
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 });
  writer.push({ type: 0, value: 1n });
  const listed = async () => {
    const { stdout } = await run(['list', '--json', '--dir', directory]);
    return JSON.parse(stdout) as { agent: string; startTimeMs?: number };
  };
  expect(await listed()).not.toHaveProperty('startTimeMs');
  const first = await Serve.over(directory);
  await allDrained(directory);
  const [agent] = (await first.answer()).agents;
  expect(await listed()).toMatchObject({ agent: 'agent', startTimeMs: agent!.startTimeMs });
  await first.kill();
  const second = await Serve.over(directory);
  await second.command.says(/recovered 1 agent with 1 event,/);
  expect(await listed()).toMatchObject({ agent: 'agent', startTimeMs: agent!.startTimeMs });
  const { stdout } = await run(['list', '--dir', directory]);
  expect(stdout).toMatch(/ AGE +SINCE +STATE/);
  expect(stdout).toMatch(/^agent .* \d{4}-\d\d-\d\d \d\d:\d\d:\d\d +ready, held$/m);
});

/** A real Prometheus that stores start times as zeros misses no increase, not even before the first sample. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../src/rings.js';
import { TransferEvent } from '../../src/ground/tally.js';
import { type RunningCommand, start, temporaryDirectory } from '../cli/command.js';
import { freePort } from '../support/free-port.js';
import { type Backend, NATIVE_HISTOGRAMS, PATIENTLY, startPrometheus, START_TIMES } from './backends.js';
import { ofCumulative } from './transfers.js';

const COUNTER = 'agent_xfer_time_total';
const HISTOGRAM = 'agent_xfer_time_us';

class Agent {
  readonly directory = temporaryDirectory();
  #writer = this.#start();

  #start(): RingWriter {
    return new RingWriter(path.join(this.directory, 'agent'), { wireVersion: 4 });
  }

  /** Writes as many durations of 1 us. */
  write(count: number): void {
    for (let i = 0; i < count; i++) {
      if (!this.#writer.push({ type: TransferEvent.XFER_TIME, value: 1 })) throw new Error('the ring is full');
    }
  }

  restart(): void {
    this.#writer.close();
    this.#writer = this.#start();
  }

  /** Without state files, so that counts begin at 0 with each serve. */
  async serve(port: number): Promise<RunningCommand> {
    const serve = start(['serve', '--dir', this.directory, '--port', String(port), '--state', 'off']);
    await serve.says(/serves http/);
    return serve;
  }
}

/** Extrapolation adds less than a scrape interval. */
async function increases(prometheus: Backend, expression: string, expected: number): Promise<void> {
  const ratio = async () => ((await prometheus.number(expression)) ?? 0) / expected;
  await expect.poll(ratio, { ...PATIENTLY, message: expression }).toBeCloseTo(1, 1);
}

describe('increase()', () => {
  it.each([
    ['in text', [], 0],
    ['in protobuf', [START_TIMES], 1000],
  ])('has what a counter had at its first sample: %s', async (_, features, expected) => {
    const agent = new Agent();
    agent.write(1000);
    const port = await freePort();
    await agent.serve(port);
    // Before 3.8, Prometheus drops native histograms that are not switched on, and takes no buckets in their place.
    const settings = { always_scrape_classic_histograms: true };
    const prometheus = await startPrometheus(`127.0.0.1:${port}`, features, settings);
    // Enough samples for an increase.
    await prometheus.answers(`count_over_time(${COUNTER}[1h]) >= bool 10`, 1);
    expect(await prometheus.number(`last_over_time(${COUNTER}[1h])`)).toBe(1000);
    if (expected === 0) expect(await prometheus.number(`increase(${COUNTER}[1h])`)).toBe(0);
    else await increases(prometheus, `increase(${COUNTER}[1h])`, expected);
    // In both formats.
    expect(await prometheus.number(`${HISTOGRAM}_bucket{le="+Inf"}`)).toBe(1000);
  });

  it('is exact through restarts of serve and of the agent, even if counts grow by more than they lost', async () => {
    const agent = new Agent();
    const port = await freePort();
    let serve = await agent.serve(port);
    const prometheus = await startPrometheus(`127.0.0.1:${port}`, [START_TIMES, NATIVE_HISTOGRAMS]);
    const counted = async (count: number) => {
      await prometheus.answers(`last_over_time(${COUNTER}[1h])`, count);
      await prometheus.answers(`histogram_count(last_over_time(${HISTOGRAM}[1h]))`, count);
    };
    agent.write(1000);
    await counted(1000);
    await serve.stop('SIGKILL');
    agent.write(2500);
    // A scrape that failed between the start of the counts and the first page would leave a sample that is younger than that
    // start, and Prometheus would drop the zero of the start.
    prometheus.server.signal('SIGSTOP');
    serve = await agent.serve(port);
    // The first page takes longest: on a busy machine longer than a scrape may.
    await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    prometheus.server.signal('SIGCONT');
    await counted(2500); // no smaller sample than before shows the restart
    agent.restart();
    agent.write(500);
    await counted(3000);
    const [samples] = await prometheus.query(`${COUNTER}[1h]`);
    expect([samples!.values[0], ofCumulative(samples!.values)]).toEqual([0, 4000]);
    await increases(prometheus, `increase(${COUNTER}[1h])`, 4000);
    await increases(prometheus, `histogram_count(increase(${HISTOGRAM}[1h]))`, 4000);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  });
});

/** Labels of prometheus_mp over real processes that make rings, end, and restart. */
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NixlMetricProducer, type NixlMetricProducerOptions } from '../../src/index.js';
import { startTransferSource } from '../cli/command.js';
import { scrape } from '../instrumentation/readers.js';
import { temporaryDirectory, untilYoungerThan } from '../support/live.js';
import { samplesOf } from '../support/page.js';
import { RingProcess } from '../support/ring-process.js';

const BYTES = [{ type: 0, value: 100 }];

interface Labels {
  pid: string;
  instance: string;
  rank: string;
}

function producerOn(directory: string, options: NixlMetricProducerOptions = {}): NixlMetricProducer {
  const producer = new NixlMetricProducer({ directories: directory, nixlLabels: 'prometheus_mp', ...options });
  onTestFinished(() => producer.close());
  return producer;
}

/** Returns, by agent, the labels of its process. All of NIXL's own series must have the same ones. */
async function labelsSeen(producer: NixlMetricProducer): Promise<Record<string, Labels>> {
  const seen: Record<string, Labels> = {};
  for (const { name, labels } of samplesOf(await scrape(producer))) {
    if (name === 'nixl_agent_info') continue; // has the process in any case
    const { agent_name: agent, pid, agent_instance: instance, local_rank: rank } = labels;
    if (!name.startsWith('agent_')) {
      expect([pid, instance, rank], name).toEqual([undefined, undefined, undefined]);
      continue;
    }
    const own = { pid: pid!, instance: instance!, rank: rank! };
    expect((seen[agent!] ??= own), name).toEqual(own);
  }
  return seen;
}

describe('the labels of prometheus_mp', () => {
  it('number the agents of each process in the order in which they made their rings', async () => {
    const directory = temporaryDirectory();
    const [one, other] = [new RingProcess({ LOCAL_RANK: '5' }), new RingProcess({ RANK: '6' })];
    const ring = (name: string) => ({ path: path.join(directory, name), wireVersion: 4, events: BYTES });
    for (const name of ['z', 'm', 'a']) {
      await one.write(ring(name));
      untilYoungerThan(ring(name).path);
    }
    await other.write(ring('b'));

    const producer = producerOn(directory);
    const ofOne = (instance: string): Labels => ({ pid: String(one.pid), instance, rank: '5' });
    const expected = {
      z: ofOne('0'),
      m: ofOne('1'),
      a: ofOne('2'),
      b: { pid: String(other.pid), instance: '0', rank: '' },
    };
    await expect.poll(() => labelsSeen(producer)).toEqual(expected);

    await one.write(ring('c'));
    await expect.poll(() => labelsSeen(producer)).toEqual({ ...expected, c: ofOne('3') });
    const byRank = producerOn(directory, { rankVariable: 'RANK' });
    await expect.poll(async () => (await labelsSeen(byRank))['b']?.rank).toBe('6');
  });

  it('number those of transfer-source, too', async () => {
    const directory = temporaryDirectory();
    const agents = startTransferSource(['--dir', directory, '--agents', '2', '--seconds', '0']);
    const producer = producerOn(directory);
    const pid = String(agents.child.pid);
    const seen = async () =>
      Object.values(await labelsSeen(producer)).sort((a, b) => (a.instance < b.instance ? -1 : 1));
    // The order of the two is not visible: their files can have equal times, because the clock of files has steps.
    await expect.poll(seen).toEqual(['0', '1'].map((instance) => ({ pid, instance, rank: '' })));
  });

  it('stay when an agent dies, and change when it restarts in another process', async () => {
    const directory = temporaryDirectory();
    const ring = (name: string) => ({ path: path.join(directory, name), wireVersion: 4, events: BYTES });
    const first = new RingProcess({ LOCAL_RANK: '1' });
    await first.write(ring('other'));
    untilYoungerThan(ring('other').path);
    await first.write(ring('agent'));
    const producer = producerOn(directory);
    const before = (instance: string): Labels => ({ pid: String(first.pid), instance, rank: '1' });
    await expect.poll(() => labelsSeen(producer)).toEqual({ other: before('0'), agent: before('1') });

    await first.kill();
    const up = async () => samplesOf(await scrape(producer)).filter(({ name }) => name === 'nixl_agent_up');
    await expect.poll(async () => (await up()).map(({ value }) => value)).toEqual([0, 0]);
    expect(await labelsSeen(producer)).toEqual({ other: before('0'), agent: before('1') });

    const second = new RingProcess({ LOCAL_RANK: '2' });
    await second.write(ring('agent'));
    await expect
      .poll(() => labelsSeen(producer))
      .toEqual({ other: before('0'), agent: { pid: String(second.pid), instance: '0', rank: '2' } });
    // The sums continue, as they do without these labels.
    const bytes = samplesOf(await scrape(producer)).filter(({ name }) => name === 'agent_tx_bytes_total');
    expect(bytes.map(({ value }) => value).sort()).toEqual([100, 200]);
  });
});

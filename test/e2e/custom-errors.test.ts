/** An event that NIXL's table does not have joins the errors with one line of configuration, in real rings. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { RingWriter, type WriteEvent } from '../../src/rings.js';
import { scrape, start, temporaryDirectory } from '../cli/command.js';
import { samplesOf } from '../support/page.js';

it.each([
  ['a type number', '77', 4, { type: 77 }],
  ['a type number, in a ring that stores categories', '77', 2, { type: 77, category: 4 }],
  ["NIXL's name of it in wire version 1", '77', 1, { name: 'NIXL_ERR_XFER_STALLED', category: 4 }],
  ['a separate name in wire version 1', 'stalled', 1, { name: 'stalled', category: 3 }],
] as const)('as %s', async (_, event, wireVersion, key: Omit<WriteEvent, 'value'>) => {
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion });
  const bytes = wireVersion === 1 ? { name: 'agent_tx_bytes', category: 1 } : { type: 0, category: 1 };
  writer.push({ ...bytes, value: 1 });
  const config = path.join(temporaryDirectory(), 'config.yaml');
  writeFileSync(config, `customEvents: [{ event: ${event}, kind: error, status: xfer_stalled }]\n`);
  const serve = start(['serve', '--dir', directory, '--port', '0', '--config', config]);
  const [, url] = await serve.says(/serves (http:\S+)/);
  const errors = async (): Promise<Record<string, number>> => {
    const samples = samplesOf(await scrape(url!)).filter(({ name }) => name === 'agent_errors_total');
    return Object.fromEntries(samples.map(({ labels, value }) => [labels['status']!, value]));
  };
  await expect.poll(errors).toMatchObject({ xfer_stalled: 0, backend: 0 });
  for (let i = 0; i < 3; i++) writer.push({ ...key, value: 1 });
  await expect.poll(errors).toMatchObject({ xfer_stalled: 3, backend: 0 });
  expect(Object.keys(await errors())).toHaveLength(13);
  writer.close();
});

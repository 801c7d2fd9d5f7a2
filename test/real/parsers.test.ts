/** Pages of serve, read by the parsers of others: every series of the page, with the sums that were written. */
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RingWriter } from '../../src/rings.js';
import { start, temporaryDirectory, until } from '../cli/command.js';
import { CHANGING } from '../support/prometheus-families.js';
import { keyOf, type Parser, provideParsers, type Samples } from './parsers.js';

const ACCEPT = {
  protobuf: 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited',
  openmetrics: 'application/openmetrics-text;version=1.0.0',
};

/** File names of agents, and the names in their labels. */
const AGENTS: readonly [file: string | Buffer, name: string][] = [
  ...[
    'plain',
    'say "hi" \\n \\',
    'line\nbreak\r\ttab',
    'naïve 漢字 🙂 \u2028\u0085',
    '} 1 # HELP x',
    '{a="b",',
    '  spaces ',
  ].map((name): [string, string] => [name, name]),
  [Buffer.from([0x62, 0xff, 0xc3]), String.raw`b\xFF\xC3`],
];
const TX_BYTES = 0;
const TX_REQUESTS = 2;
const TRANSFER_TIME = 6;

/** Labels of the series with the sums of an agent, and of its histogram's count. */
const NAMINGS = {
  nixl: {
    agent: 'agent_name',
    bytes: { __name__: 'agent_tx_bytes_total', hostname: 'node' },
    requests: { __name__: 'agent_tx_requests_num_total', hostname: 'node' },
    transfers: { __name__: 'agent_xfer_time_us_count', hostname: 'node' },
    histogram: 'agent_xfer_time_us',
  },
  otel: {
    agent: 'nixl_agent_name',
    bytes: { __name__: 'nixl_transfer_io_total', nixl_transfer_direction: 'transmit' },
    requests: { __name__: 'nixl_transfer_requests_total', nixl_transfer_direction: 'transmit' },
    transfers: { __name__: 'nixl_transfer_duration_count' },
    histogram: 'nixl_transfer_duration',
  },
} as const;

const CASES = (['nixl', 'otel'] as const).flatMap((naming) =>
  ['nixl', 'standard', 'full'].flatMap((series) => [false, true].map((hasMore) => ({ naming, series, hasMore }))),
);
/** Text that text, JSON and labels must escape. */
const ZONE = 'a "b" \\n\n{c}, 漢';

const parsers = await provideParsers();

describe.each(Object.entries(parsers))('the parser for %s', (_, parser) => {
  it.skipIf(parser === undefined).each(CASES)(
    'reads naming $naming, series $series, with attributes: $hasMore',
    ({ naming, series, hasMore }) => check(parser!, naming, series, hasMore),
  );
});

async function check(parser: Parser, naming: keyof typeof NAMINGS, series: string, hasMore: boolean): Promise<void> {
  const dir = temporaryDirectory();
  const config = path.join(temporaryDirectory(), 'config.json');
  const attributes = hasMore ? [{ name: 'k8s.pod.uid', source: 'agent', type: 'text' }] : [];
  writeFileSync(config, JSON.stringify({ attributes }));
  const sums = AGENTS.map(([file], i) => writeAgent(dir, file, i));
  const flags = ['--naming', naming, '--series', series, '--hostname', 'node', '--config', config];
  const serve = start(
    ['serve', '--dir', dir, '--port', '0', ...flags],
    hasMore ? { OTEL_RESOURCE_ATTRIBUTES: `zone=${encodeURIComponent(ZONE)},9-odd=x,like.this=1,like_this=2` } : {},
  );
  const [, url] = await serve.says(/serves (http:\S+)/);
  const { agent, bytes, requests, transfers, histogram } = NAMINGS[naming];
  const read = (query = '', accept = 'text/plain') => readPage(parser, `${url!}${query}`, accept);

  const keys = AGENTS.map(([, name]) => {
    const own = { [agent]: name, ...(hasMore && { k8s_pod_uid: name }) };
    return [bytes, requests, transfers].map((labels) => keyOf({ ...labels, ...own }));
  });
  const hasHistogram = (await (await fetch(url!)).text()).includes(`# TYPE ${histogram} `);
  expect(hasHistogram || series === 'nixl').toBe(true);
  const written = sums.map((counted) => (hasHistogram ? counted : [...counted.slice(0, 2), undefined]));
  const found = (samples: Samples) => keys.map((of) => of.map((key) => samples.get(key)));
  await until(async () => JSON.stringify(found(await read())) === JSON.stringify(written)).catch(() => {});
  const whole = await read();
  expect(found(whole)).toEqual(written);
  if (hasMore && series !== 'nixl') {
    const [info] = [...whole.keys()].filter((key) => key.includes('"target_info"'));
    expect(JSON.parse(info!)).toEqual(
      expect.arrayContaining([
        ['key_9_odd', 'x'],
        ['like_this', '1;2'],
        ['zone', ZONE],
      ]),
    );
  }

  const names = [bytes.__name__, histogram].map((name) => `name[]=${name}`).join('&');
  const isNamed = (name: string): boolean =>
    name === bytes.__name__ || new RegExp(`^${histogram}_(count|sum|bucket)$`).test(name);
  const named = new Map([...whole].filter(([key]) => isNamed(nameIn(key))));
  expect(await read(`?${names}`)).toEqual(named);
  const other = ACCEPT[parser.other];
  expect(stable(await read('', other))).toEqual(stable(whole));
  expect(await read(`?${names}`, other)).toEqual(named);
}

/** Writes an agent that lives until the end of the test. @returns its bytes, requests and transfers */
function writeAgent(dir: string, file: string | Buffer, i: number): number[] {
  const temporary = path.join(dir, `agent-${i}`);
  const writer = new RingWriter(temporary, { wireVersion: 4, capacity: 64 });
  onTestFinished(() => writer.close());
  const sizes = [1, 2 ** 52 + i, 10 ** i];
  for (const value of sizes) writer.push({ type: TX_BYTES, value });
  for (let n = 0; n <= i; n++) {
    writer.push({ type: TX_REQUESTS, value: 1 });
    writer.push({ type: TRANSFER_TIME, value: 10 ** n });
  }
  renameSync(temporary, Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(file)]));
  return [sizes.reduce((sum, size) => sum + size, 0), i + 1, i + 1];
}

async function readPage(parser: Parser, url: string, accept: string): Promise<Samples> {
  const answer = await fetch(url, { headers: { accept } });
  const contentType = answer.headers.get('content-type')!;
  expect(contentType).toContain(accept.split(';', 1)[0]);
  const page = new Uint8Array(await answer.arrayBuffer());
  const samples = parser.parse(page, contentType);
  if (accept !== ACCEPT.protobuf) {
    const lines = Buffer.from(page).toString().split('\n');
    expect(samples.size).toBe(lines.filter((line) => line !== '' && !line.startsWith('#')).length);
  }
  return samples;
}

function nameIn(key: string): string {
  return Object.fromEntries(JSON.parse(key) as [string, string][])['__name__']!;
}

function stable(samples: Samples): Map<string, number | undefined> {
  return new Map([...samples].map(([key, value]) => [key, CHANGING.test(nameIn(key)) ? undefined : value]));
}

/** Names of agents are file names, which may hold any bytes: expositions keep them unchanged, and terminals are safe. */
import { copyFileSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { run, scrape, start, temporaryDirectory, until, valueOf } from '../cli/command.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';
import { samplesOf } from '../support/page.js';

/** Bytes of the file name, and the agent's name as text. */
const NAMES: readonly (readonly [Buffer, string])[] = [
  [Buffer.from('two words'), 'two words'],
  [Buffer.from('"quoted" \\ and {braced="x"} 1'), '"quoted" \\ and {braced="x"} 1'],
  [Buffer.from('two\nlines'), 'two\nlines'],
  [Buffer.from('\u001b[2J\u0007bell'), '\u001b[2J\u0007bell'],
  [Buffer.from('<script>alert(1)</script>'.replace('/', '\\')), '<script>alert(1)<\\script>'],
  [Buffer.from('ümläut 代理 🚀'), 'ümläut 代理 🚀'],
  [Buffer.from([0x61, 0xff, 0xfe, 0x62]), 'a\\xFF\\xFEb'],
  [Buffer.from([0xed, 0xa0, 0x80]), '\\xED\\xA0\\x80'], // a surrogate half
  [Buffer.alloc(255, 'n'), 'n'.repeat(255)],
  [Buffer.alloc(255, 0xff), '\\xFF'.repeat(255)],
  [Buffer.from('.hidden'), '.hidden'],
  [Buffer.from('__proto__'), '__proto__'],
  [Buffer.from('\u009b2Jc1 \u202ertl'), '\u009b2Jc1 \u202ertl'],
  [
    Buffer.from('\u061c\u200e\u200f \u2066isolated\u2069 \ufeff\u{e0041}tag'),
    '\u061c\u200e\u200f \u2066isolated\u2069 \ufeff\u{e0041}tag',
  ],
  [Buffer.from('x is busy\nnixl-otel: error: forged'), 'x is busy\nnixl-otel: error: forged'],
];

function writeRings(directory: string): void {
  NAMES.forEach(([name], i) => {
    const plain = path.join(directory, 'plain');
    const writer = new RingWriter(plain, { wireVersion: 4, capacity: 64 });
    for (let n = 0; n <= i; n++) writer.push({ type: 0, value: 1n });
    writer.close();
    renameSync(Buffer.from(plain), Buffer.concat([Buffer.from(`${directory}/`), name]));
  });
  expect(readdirSync(directory)).toHaveLength(NAMES.length);
}

test('exports names of any bytes unchanged, in expositions and in pushes', async () => {
  const directory = temporaryDirectory();
  writeRings(directory);
  const otlp = await startOtlpReceiver();
  const flags = ['--exporter', 'prometheus,otlp', '--otlp-protocol', 'http/json', '--otlp-endpoint', otlp.url];
  const serve = start(['serve', '--dir', directory, '--port', '0', '--export-interval', '200', ...flags]);
  const [url] = await serve.says(/http:\S+metrics/);
  const all = (NAMES.length * (NAMES.length + 1)) / 2;
  const page = await until(async () => {
    const text = await scrape(url);
    return valueOf(text, 'agent_tx_bytes_total') === all && text;
  });

  const expected = new Map(NAMES.map(([, name], i) => [name, i + 1]));
  const bytes = samplesOf(page).filter(({ name }) => name === 'agent_tx_bytes_total');
  expect(new Map(bytes.map(({ labels, value }) => [labels['agent_name']!, value]))).toEqual(expected);
  // Each sample has one line with any name: the exposition has only names, labels, numbers and comments.
  for (const line of page.trimEnd().split('\n')) expect(line).toMatch(/^(#.*|\w+(\{.*\})? \S+)$/);

  const pushed = await until(() => {
    const points = otlp.points().filter(({ metric }) => metric === 'agent_tx_bytes_total');
    return Promise.resolve(points.length === NAMES.length && points);
  });
  expect(new Map(pushed.map(({ attributes, value }) => [attributes['agent_name']!, value]))).toEqual(expected);
});

/** More than three rings with one problem are one line, which names the first. */
const FEW = Array.from({ length: Math.ceil(NAMES.length / 3) }, (_, i) => NAMES.slice(3 * i, 3 * i + 3));

test.each(FEW.map((names) => [names]))(
  'prints names without control characters at a terminal and in a log: %j',
  async (names) => {
    const directory = temporaryDirectory();
    names.forEach(([name]) => {
      const plain = path.join(directory, 'plain');
      const writer = new RingWriter(plain, { wireVersion: 4, capacity: 4 });
      writer.close();
      renameSync(Buffer.from(plain), Buffer.concat([Buffer.from(`${directory}/`), name]));
    });
    // The first serve holds the rings. For the second they are busy, and its log has a line about each.
    const holder = start(['serve', '--dir', directory, '--port', '0']);
    await holder.says(/http:\S+metrics/);
    for (const format of ['text', 'json']) {
      const serve = start([
        'serve',
        '--dir',
        directory,
        '--port',
        '0',
        '--log-format',
        format,
        '--log-level',
        'verbose',
      ]);
      const [url] = await serve.says(/http:[^\s"]+metrics/);
      await until(async () => valueOf(await scrape(url), 'nixl_collector_problems', 'state="busy"') === names.length);
      const ready = await scrape(new URL('/readyz', url).href);
      expect(ready.trimEnd().split('\n')).toHaveLength(names.length + 1);
      const { stderr } = await serve.stop();
      const lines = stderr.trimEnd().split('\n');
      expect(lines.filter((line) => line.includes('is busy: another'))).toHaveLength(names.length);
      for (const line of lines) expect(line).not.toMatch(/^nixl-otel: error/);
      for (const text of [stderr, ready]) {
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }
    }
    await holder.stop();
  },
);

test('list, top and read name a file whose name is not UTF-8, and read the others', async () => {
  const directory = temporaryDirectory();
  for (const name of ['plain', 'b\ufffd']) {
    const writer = new RingWriter(path.join(directory, name), { wireVersion: 4, capacity: 64 });
    writer.push({ type: 0, value: 7n });
    writer.close();
  }
  const [plain, other] = ['plain', 'b\ufffd'].map((name) => path.join(directory, name)) as [string, string];
  copyFileSync(plain, Buffer.concat([Buffer.from(`${directory}/a`), Buffer.from([0xff])]));
  const reason = `${directory}/a\ufffd cannot be opened: its name is not UTF-8`;
  const list = await run(['list', '--dir', directory]);
  expect(list.stdout.match(/ready$/gm)).toHaveLength(2);
  expect(list.stderr).toContain(reason);
  const top = await run(['top', '--dir', directory, '--once', '--json', '--all', '--interval', '100']);
  const line = JSON.parse(top.stdout) as { notes: string[]; agents: { agent: string }[] };
  expect(line.agents.map(({ agent }) => agent).sort()).toEqual(['b\ufffd', 'plain']);
  expect(line.notes).toEqual([expect.stringContaining(reason)]);
  const read = await run(['read', '--format', 'line', plain, `${directory}/a\ufffd`, other]);
  expect(read.stdout.trim().split('\n')).toHaveLength(2);
  expect(read.stderr).toContain(reason);
});

/** Metrics of serve about itself, as a scraper gets them, compared with what the kernel says about the process. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.js';
import { samplesOf } from '../support/page.js';
import { ROOT, scrape, start, temporaryDirectory, until, valueOf } from './command.js';

const MEBIBYTE = 2 ** 20;
/** Kilobytes in /proc/PID/status. */
const KILO = 1024;
/** Clock ticks in /proc/PID/stat, on every machine. */
const TICKS_PER_SECOND = 100;
/** Rounding of a tick, and of the kernel's count of pages per processor. */
const SLACK = { seconds: 2 / TICKS_PER_SECOND, bytes: 4 * MEBIBYTE };

async function serving(...flags: string[]) {
  const serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0', ...flags]);
  const [, url] = await serve.says(/serves (http:\S+) from/);
  const ofProcess = (file: string): string => readFileSync(`/proc/${serve.child.pid}/${file}`, 'latin1');
  return {
    serve,
    page: () => scrape(url!),
    cpuSeconds: () => {
      const fields = ofProcess('stat')
        .replace(/^.*\) /s, '')
        .split(' ');
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    },
    mostBytes: () => Number(/^VmHWM:\s+(\d+) kB/m.exec(ofProcess('status'))![1]) * KILO,
    descriptors: () => readdirSync(`/proc/${serve.child.pid}/fd`).length,
    mostDescriptors: () => Number(/^Max open files\s+(\d+)/m.exec(ofProcess('limits'))![1]),
  };
}

it('those of the process have the names of Prometheus in naming nixl, and the values of the kernel', async () => {
  const before = Date.now();
  const { page, cpuSeconds, mostBytes, descriptors, mostDescriptors } = await serving();
  const cpuBefore = cpuSeconds();
  const text = await page();
  const cpu = valueOf(text, 'process_cpu_seconds_total');
  expect(cpu).toBeGreaterThan(cpuBefore - SLACK.seconds);
  expect(cpu).toBeLessThan(cpuSeconds() + SLACK.seconds);
  const resident = valueOf(text, 'process_resident_memory_bytes');
  expect(resident).toBeGreaterThan(10 * MEBIBYTE);
  expect(resident).toBeLessThan(mostBytes() + SLACK.bytes);
  const startMs = valueOf(text, 'process_start_time_seconds') * 1000;
  expect(startMs).toBeGreaterThan(before - 1000);
  expect(startMs).toBeLessThan(Date.now());
  expect(valueOf(text, 'process_max_fds')).toBe(mostDescriptors());
  // The connections of the scrapes come and go.
  await until(async () => valueOf(await page(), 'process_open_fds') === descriptors());
  expect(text).toMatch(/^# TYPE process_cpu_seconds_total counter$/m);
  expect(text).toMatch(/^# TYPE process_open_fds gauge$/m);
});

it('those of the process have the names of the semantic conventions in naming otel', async () => {
  const { page } = await serving('--naming', 'otel');
  const first = samplesOf(await page());
  const names = first.map(({ name }) => name).filter((name) => name.startsWith('process_'));
  expect(names).toEqual([
    'process_cpu_time_total',
    'process_memory_usage',
    'process_unix_file_descriptor_count',
    'process_uptime',
  ]);
  const uptime = (samples: typeof first): number => samples.find(({ name }) => name === 'process_uptime')!.value;
  expect(uptime(samplesOf(await page()))).toBeGreaterThan(uptime(first));
});

it('name the versions', async () => {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const versions = { version, node_version: process.versions.node };
  const info = samplesOf(await (await serving()).page()).filter(({ name }) => name === 'nixl_otel_build_info');
  expect(info).toEqual([
    { name: 'nixl_otel_build_info', labels: expect.objectContaining(versions) as unknown, value: 1 },
  ]);
  const otel = samplesOf(await (await serving('--naming', 'otel')).page());
  expect(otel.find(({ name }) => name === 'nixl_otel_build_info')!.labels).toEqual({
    service_version: version,
    process_runtime_version: process.versions.node,
  });
});

it("are not on a page that prints what NIXL's exporter prints", async () => {
  const { page } = await serving('--series', 'nixl');
  expect(await page()).not.toMatch(/process|build_info|exporter/);
});

it('count the pages before this one, and their time', async () => {
  const { page } = await serving();
  const pages = [await page(), await page(), await page()];
  const exports = (text: string, result: string) =>
    valueOf(text, 'nixl_exporter_exports_total', `exporter="prometheus",result="${result}"`);
  expect(pages.map((text) => exports(text, 'success'))).toEqual([0, 1, 2]);
  expect(pages.map((text) => exports(text, 'failed'))).toEqual([0, 0, 0]);
  const times = pages.map((text) => valueOf(text, 'nixl_exporter_time_total', 'exporter="prometheus"'));
  expect(times[0]).toBe(0);
  expect(times[1]).toBeGreaterThan(0);
  expect(times[2]).toBeGreaterThan(times[1]!);
});

it('count pushes by result', async () => {
  const port = await freePort();
  const flags = ['--exporter', 'prometheus,otlp', '--export-interval', '100'];
  const { page } = await serving(...flags, '--otlp-endpoint', `http://127.0.0.1:${port}`);
  const count = async (name: string, result = '"otlp"') => valueOf(await page(), name, result);
  const failed = 'exporter="otlp",result="failed"';
  const success = 'exporter="otlp",result="success"';
  await until(async () => (await count('nixl_exporter_exports_total', failed)) >= 2);
  expect(await count('nixl_exporter_exports_total', success)).toBe(0);
  const receiver = createServer((request, response) => void request.resume().on('end', () => response.end()));
  onTestFinished(() => void receiver.close());
  receiver.listen(port, '127.0.0.1');
  await until(async () => (await count('nixl_exporter_exports_total', success)) >= 2);
  const text = await page();
  expect(valueOf(text, 'nixl_exporter_exports_total', failed)).toBe(
    valueOf(text, 'nixl_exporter_failures_total', '"otlp"'),
  );
  expect(valueOf(text, 'nixl_exporter_time_total', '"otlp"')).toBeGreaterThan(0);
});

/** Runs each example in a separate process, as a user does, and checks its output. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type MetricBuilder, NixlMetricProducer } from '../src/index.js';
import { TestRings } from '../src/testing.js';
import {
  type Ended,
  ROOT,
  RunningCommand,
  scrape as fetchPage,
  temporaryDirectory,
  until,
  valueOf,
} from './cli/command.js';
import { scrape } from './instrumentation/readers.js';
import { freePort } from './support/free-port.js';
import { startOtlpReceiver } from './support/otlp-receiver.js';

const EXAMPLES = path.join(ROOT, 'examples');

/** Starts the example by a path through a link: npm makes one for an installed checkout. */
function ended(example: string, ...args: string[]): Promise<Ended> {
  const link = path.join(temporaryDirectory(), 'examples');
  symlinkSync(EXAMPLES, link);
  return new RunningCommand(process.execPath, [path.join(link, example), ...args]).ended;
}

/** Returns what it printed. */
function outputOf({ code, stdout, stderr }: Ended): string {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe('examples/', () => {
  /** Each has agents at work for a second. Therefore they run beside each other. */
  const names = ['attributes', 'failure-builder', 'backend-events', 'publish-events', 'job-records', 'csv-sink'];
  const all = new Map<string, Ended>();
  beforeAll(() => Promise.all(names.map(async (name) => all.set(`${name}.mjs`, await ended(`${name}.mjs`)))));

  it('attributes.mjs: role, rank and model of each agent', () => {
    const lines = outputOf(all.get('attributes.mjs')!).trim().split('\n');
    expect(lines).toHaveLength(4);
    const of = (agent: string): string => lines.find((line) => line.includes(`agent_name="${agent}"`))!;
    expect(of('prefill-1')).toMatch(/role="prefill",number="1",local_rank="0",model="llama_3".* [1-9]/);
    expect(of('decode-0')).toMatch(/role="decode",number="0",local_rank="1",model="none".* [1-9]/);
  });

  it('failure-builder.mjs: one counter, equal to the sum of all errors', () => {
    const lines = outputOf(all.get('failure-builder.mjs')!).trim().split('\n');
    const sum = (name: string): number =>
      lines
        .filter((line) => line.startsWith(`${name}{`))
        .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
    expect(sum('team_transfer_failures_total')).toBeGreaterThan(0);
    expect(sum('team_transfer_failures_total')).toBe(sum('agent_errors_total'));
  });

  it('failure-builder.test.mjs: a unit test that passes', async () => {
    const file = path.join(EXAMPLES, 'failure-builder.test.mjs');
    const { code, stdout } = await new RunningCommand(process.execPath, ['--test', file]).ended;
    expect(stdout).toMatch(/pass 1$/m);
    expect(code).toBe(0);
  });

  it('backend-events.mjs: declared events have custom metrics', () => {
    const page = outputOf(all.get('backend-events.mjs')!);
    expect(page).toMatch(/^backend_queue_depth\{.*\} 5$/m);
    expect(page).toMatch(/^backend_retries_total\{.*event="retry_a"\} 2$/m);
    expect(page).toMatch(/^backend_stage_duration_bucket\{.*le="100"\} 2$/m);
    expect(page).toMatch(/^nixl_events_total\{.*event="something_else"\} 1$/m);
  });

  it('publish-events.mjs: events of a service', () => {
    const page = outputOf(all.get('publish-events.mjs')!);
    expect(page).toMatch(/^nixl_event_value_total\{.*category="NIXL_TELEMETRY_CUSTOM",event="cache_hits"\} 42$/m);
    expect(page).toMatch(/^nixl_event_last\{.*category="NIXL_TELEMETRY_SYSTEM",event="resident_bytes"\} [1-9]\d+$/m);
  });

  it('publish_events.cc: events of a C++ program', async () => {
    const [build, rings] = [temporaryDirectory(), temporaryDirectory()];
    const program = path.join(build, 'publish_events');
    const source = path.join(EXAMPLES, 'publish_events.cc');
    execFileSync(process.env['CXX'] ?? 'g++', [
      '-std=c++20',
      '-Wall',
      '-Werror',
      '-I',
      path.join(ROOT, 'native'),
      source,
      '-o',
      program,
    ]);
    const { code, stdout } = await new RunningCommand(program, [rings]).ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'published 3 events\n' });
    const times: number[] = [];
    const clock: MetricBuilder = {
      name: 'clock',
      create: () => {},
      take: (events) => times.push(...events.map(({ timeMs }) => timeMs)),
    };
    const producer = new NixlMetricProducer({ directories: rings, builders: ['events', clock] });
    const page = await scrape(producer);
    producer.close();
    expect(page).toMatch(/^nixl_event_value_total\{.*agent_name="cpp-service".*event="cache_hits"\} 42$/m);
    expect(page).toMatch(/^nixl_event_last\{.*category="NIXL_TELEMETRY_SYSTEM",event="resident_bytes"\} [1-9]\d+$/m);
    expect(times).toHaveLength(3);
    for (const time of times) expect(Math.abs(time - Date.now())).toBeLessThan(600_000);
  });

  it('job-records.mjs: jobs by outcome, version, network and GPU', () => {
    const page = outputOf(all.get('job-records.mjs')!);
    expect(page).toMatch(
      /^nixl_records_total\{gpus="3_NVIDIA_A100_2_NVIDIA_V100_1",action="train",outcome="pass"\} 1$/m,
    );
    expect(page).toMatch(/^nixl_records_gpu_time_total\{gpus="3_NVIDIA_A100_2_NVIDIA_V100_1",gpu="NVIDIA_A100"\} 60$/m);
  });

  it('csv-sink.mjs: every event once, over all rotated files', async () => {
    const directory = temporaryDirectory();
    const [, written] = /^(\d+) events in .*; 0 dropped\n$/.exec(outputOf(await ended('csv-sink.mjs', directory)))!;
    const files = readdirSync(directory);
    expect(files.length).toBeGreaterThan(2);
    const lines = files.flatMap((file) => readFileSync(path.join(directory, file), 'utf8').trim().split('\n'));
    const rows = lines.filter((line) => line !== 'timestamp,category,name,value');
    expect(lines.length - rows.length).toBe(files.length);
    for (const row of rows) {
      expect(row).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z,NIXL_TELEMETRY_[A-Z]+,agent_\w+,\d+$/);
    }
    expect(rows).toHaveLength(Number(written));
  });

  it('csv-sink.mjs: a folder that is not there, and a full disk', async () => {
    const run = (directory: string) =>
      new RunningCommand(process.execPath, [path.join(EXAMPLES, 'csv-sink.mjs'), directory]).ended;
    expect(await run('/no/such')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `csv-sink: ENOENT: no such file or directory, open '/no/such/events.csv'\n`,
    });
    const full = temporaryDirectory();
    symlinkSync('/dev/full', path.join(full, 'events.csv'));
    const { code, stderr } = await run(full);
    expect(stderr).toContain('events.csv: ENOSPC: no space left on device');
    expect(code).toBe(1);
  });

  it('support.mjs: a log for what the package reports', async () => {
    const throwing = path.join(temporaryDirectory(), 'throwing.mjs');
    writeFileSync(
      throwing,
      `import { NixlMetricProducer } from '${path.join(ROOT, 'dist/index.js')}';
       import { printMetrics, ringDirectory, runAgents } from '${path.join(EXAMPLES, 'support.mjs')}';
       const directories = ringDirectory();
       const broken = { name: 'broken', create() { throw new Error('no such folder'); } };
       const producer = new NixlMetricProducer({ directories, builders: [broken] });
       await printMetrics(producer, /^nothing/);
       producer.close();
       await runAgents(directories, { more: ['--agents', '0'] });`,
    );
    const { code, stderr } = await new RunningCommand(process.execPath, [throwing]).ended;
    expect(stderr).toMatch(/broken.*no such folder/);
    expect(stderr).toContain('--agents is "0": use a whole number');
    expect(stderr).toContain('nixl-otel simulate ended with 2');
    expect(code).toBe(1);
  });

  it('csv-sink.mjs without a directory: prints the beginning of the file, which is removed', () => {
    const [said, header, ...rows] = outputOf(all.get('csv-sink.mjs')!).trim().split('\n');
    expect(said).toMatch(/^[1-9]\d* events in a CSV file that this program removes at exit; 0 dropped$/);
    expect(header).toBe('timestamp,category,name,value');
    expect(rows).toHaveLength(4);
  });
});

/** test/package/examples.test.ts runs the services that need further packages. */
describe('examples/ with NodeSDK', () => {
  const SERVICE = path.join(ROOT, 'test/matrix/services/plain.mjs');

  async function service(example: string, environment: NodeJS.ProcessEnv): Promise<RunningCommand> {
    const args = ['--import', path.join(EXAMPLES, example), SERVICE];
    const running = new RunningCommand(process.execPath, args, environment);
    await running.says(/started/); // it handles signals by then
    return running;
  }

  /** Returns nothing while nothing listens on this port. */
  const pageOf = (port: string): Promise<string> => fetchPage(`http://127.0.0.1:${port}/metrics`).catch(() => '');

  function ringsWithATransfer(): string {
    const rings = new TestRings();
    onTestFinished(() => rings.close());
    rings.write('agent', { bytes: 42, timeUs: 7 });
    return rings.directory;
  }

  it('node-sdk-prometheus.mjs: a page with the metrics, and no word of a log', async () => {
    const port = String(await freePort());
    const directory = ringsWithATransfer();
    const running = await service('node-sdk-prometheus.mjs', {
      NIXL_TELEMETRY_DIR: directory,
      OTEL_EXPORTER_PROMETHEUS_PORT: port,
    });
    const page = await until(async () => {
      const text = await pageOf(port);
      return valueOf(text, 'agent_tx_bytes_total') === 42 && text;
    });
    expect(page).toMatch(/^agent_tx_bytes_total\{hostname="[^"]+",agent_name="agent"\} 42$/m);
    expect(await running.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });

  it('node-sdk-prometheus.mjs: a line for a directory that does not exist', async () => {
    const port = String(await freePort());
    const environment = { NIXL_TELEMETRY_DIR: '/no/such', OTEL_EXPORTER_PROMETHEUS_PORT: port };
    const running = await service('node-sdk-prometheus.mjs', environment);
    await until(async () => {
      await pageOf(port);
      return running.stderr.includes('directory /no/such is absent: it does not exist yet');
    });
    expect(await running.stop('SIGTERM')).toMatchObject({ code: 0 });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('node-sdk-otlp.mjs: at %s the last push has all events', async (signal) => {
    const receiver = await startOtlpReceiver();
    const running = await service('node-sdk-otlp.mjs', {
      NIXL_TELEMETRY_DIR: ringsWithATransfer(),
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    });
    expect(await running.stop(signal)).toMatchObject({ code: 0, stderr: '' });
    expect(receiver.points()).toContainEqual(expect.objectContaining({ metric: 'agent_tx_bytes_total', value: 42 }));
  });
});

/** doctor --bundle: one file for a report of a bug, with all that the report needs and without secrets. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { INTERFACE_VERSION } from '../../../src/shm-bridge/addon.js';
import { inspectRing, RingWriter } from '../../../src/shm-bridge/index.js';
import { GuardedServe, hashOf } from '../../serve/access/guarded-serve.js';
import { compiledProgram } from '../../support/preload.js';
import { freePort } from '../../support/free-port.js';
import { type Ended, RunningCommand, start, temporaryDirectory, until } from '../command.js';
import { runHere } from '../in-process.js';
import { inShortTime, IS_ROOT, nixlLibraries } from './doctor.js';

interface Bundle {
  versions: { package: string; node: string; nativePartInterface: number };
  settings: { values?: Record<string, { value: unknown; origin: string }>; variablesSet: string[] };
  findings: { finding: string; status: string; what: string }[];
  directories: {
    ringCount: number;
    rings: { agent: string; writers: number[]; holder?: number; kept: unknown; capacity: number; mode: string }[];
    stateFiles: { path: string; bytes: number }[];
  }[];
  processes: {
    trees: { pid: number; parent: number; title: string; variables: unknown; libraries: string[]; wheels: string[] }[];
  };
  serves: { address: string; problem?: string; answers?: Record<string, { agents?: object[]; status?: number }> }[];
}

const folder = (): string => path.join(temporaryDirectory(), 'report.json');

function bundled(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return inShortTime(() => runHere(['doctor', ...args], env));
}

const bundleIn = (file: string): Bundle => JSON.parse(readFileSync(file, 'utf8')) as Bundle;

function ring(directory: string, agent: string): string {
  const writer = new RingWriter(path.join(directory, agent), { wireVersion: 4, capacity: 4096 });
  writer.push({ type: 0, value: 1n });
  writer.close();
  return writer.path;
}

/** Starts a process of an engine that has the ring mapped. `name`: empty to keep its arguments and variables. */
async function startEngine(name: string, file: string, env: NodeJS.ProcessEnv): Promise<number> {
  const args = ['-c', 'exec "$0" "$@"', compiledProgram('engine.c'), name, file];
  const engine = new RunningCommand('sh', args, { LD_PRELOAD: nixlLibraries(), ...env });
  await engine.says(/ready/);
  return engine.child.pid!;
}

it('has versions, settings, findings, headers, state, processes and answers, and says so', async () => {
  const [directory, file] = [temporaryDirectory(), folder()];
  chmodSync(directory, 0o750);
  const env = { NIXL_TELEMETRY_ENABLE: 'y', NIXL_TELEMETRY_DIR: directory };
  const pid = await startEngine('', ring(directory, 'agent'), { ...env, UCX_TLS: 'tcp,self', HOME: '/not-told' });
  const port = await freePort();
  const serve = start(['serve', '--dir', directory, '--port', String(port)]);
  await serve.says(/drained every/);
  await until(() => inspectRing(path.join(directory, 'agent')).consumed && existsSync(`${directory}/.nixl-otel/agent`));
  const { code, stdout, stderr } = await bundled(['--bundle', file], {
    ...env,
    OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
  const bundle = bundleIn(file);
  expect(bundle.versions).toMatchObject({ node: process.version, nativePartInterface: INTERFACE_VERSION });
  expect(bundle.settings.values).toMatchObject({
    port: { value: port, origin: 'OTEL_EXPORTER_PROMETHEUS_PORT' },
    directories: { value: [directory], origin: 'NIXL_TELEMETRY_DIR' },
  });
  expect(bundle.settings.variablesSet).toContain('NIXL_TELEMETRY_ENABLE');
  expect(bundle.findings).toContainEqual(expect.objectContaining({ finding: 'serve', what: 'ready, 1 agent' }));
  expect(bundle.directories).toMatchObject([
    {
      ringCount: 1,
      rings: [
        {
          ...{ agent: 'agent', writers: [pid], holder: serve.child.pid, capacity: 4096 },
          kept: { writerEnded: false, startTimeMs: expect.any(Number) as number },
        },
      ],
    },
  ]);
  const states = bundle.directories[0]!.stateFiles;
  const state = states.find((one) => one.path === `${directory}/.nixl-otel/agent`);
  expect(state!.bytes).toBe(statSync(state!.path).size);
  const tree = bundle.processes.trees;
  expect(tree.find((one) => one.pid === pid)).toMatchObject({
    parent: process.pid,
    variables: { ...env, UCX_TLS: 'tcp,self' },
    libraries: nixlLibraries().split(':'),
  });
  expect(tree.find((one) => one.pid === process.pid)).toBeDefined();
  expect(bundle.serves).toMatchObject([
    {
      address: `http://127.0.0.1:${port}/`,
      answers: {
        readyz: { status: 200 },
        'api/v1/agents': { agents: [{ name: 'agent' }] },
        'api/v1/incidents': { incidents: [] },
      },
    },
  ]);
  for (const [name, value] of Object.entries(bundle)) {
    const bytes = Buffer.byteLength(JSON.stringify(value, undefined, 2));
    const [, shown, unit] = new RegExp(`^${name} +([\\d.]+) (B|kB) `, 'm').exec(stdout)!;
    const factor = unit === 'kB' ? 1000 : 1;
    expect(Math.abs(Number(shown) * factor - bytes)).toBeLessThanOrEqual(0.05 * bytes);
  }
  expect(stdout).toContain(`wrote ${file}: `);
  expect(stdout).toContain('paths, host names');
  expect(readFileSync(file, 'utf8')).not.toContain('/not-told');
}, 120_000);

/** Part of no word that the bundle has for another reason. */
const SECRET = 'Tr0ub4dor';

it('has no secret, wherever one stands', async () => {
  const [directory, file, settings] = [temporaryDirectory(), folder(), `${temporaryDirectory()}/settings.yaml`];
  const secret = (place: string): string => `${SECRET}${place}`;
  writeFileSync(
    settings,
    `serve: { otlpEndpoint: 'http://me:${secret('1')}@127.0.0.1:9/v1/metrics?key=${secret('2')}', port: 0 }
attributes:
  - { name: api_key, source: { constant: '${secret('3')}' }, default: '${secret('4')}' }`,
  );
  await startEngine('', ring(directory, 'agent'), {
    NIXL_ETCD_ENDPOINTS: `http://root:${secret('5')}@etcd:2379`,
    NIXL_SOME_TOKEN: secret('6'),
    UCX_PASSWORD: secret('7'),
    NIXL_OPTIONS: `user=me,password=${secret('8')}`,
    NIXL_TELEMETRY_ENABLE: 'false',
    UCX_MAX_RNDV_RAILS: '8192',
    HF_TOKEN: secret('9'),
    VLLM_API_KEY: secret('10'),
  });
  const renamed = ring(directory, 'renamed');
  await startEngine(`VLLM::Worker --api-key ${secret('11')}`, renamed, {});
  const env = {
    NIXL_OTEL_CONFIG: settings,
    NIXL_OTEL_PASSWORD: secret('12'),
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${secret('13')},x-other=${secret('14')}`,
    OTEL_RESOURCE_ATTRIBUTES: `a=${secret('16')}`,
    AWS_SECRET_ACCESS_KEY: secret('17'),
    // No secrets: the same texts stand in other settings.
    TOKENIZERS_PARALLELISM: 'false',
    MAX_BATCHED_TOKENS: '8192',
  };
  const endpoint = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `http://me:${secret('15')}@127.0.0.1:9/` };
  for (const [one, given] of [[file, env] as const, [`${file}2`, { ...env, ...endpoint }] as const]) {
    const { code, stderr, stdout } = await bundled(['--dir', directory, '--bundle', one], given);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(readFileSync(one, 'utf8').match(new RegExp(`.*${SECRET}.*`, 'g'))).toBeNull();
    expect(stdout).not.toContain(SECRET);
  }
  const { settings: kept, processes } = bundleIn(file);
  const variables = processes.trees.map((one) => one.variables);
  expect(variables).toContainEqual({
    NIXL_ETCD_ENDPOINTS: 'http://[removed by doctor]@etcd:2379',
    NIXL_SOME_TOKEN: '[removed by doctor]',
    UCX_PASSWORD: '[removed by doctor]',
    NIXL_OPTIONS: 'user=me,password=[removed by doctor]',
    NIXL_TELEMETRY_ENABLE: 'false',
    UCX_MAX_RNDV_RAILS: '8192',
  });
  expect(kept.variablesSet).toContain('NIXL_OTEL_PASSWORD');
  expect(kept.values).toMatchObject({
    otlpEndpoint: {
      value: 'http://[removed by doctor]@127.0.0.1:9/v1/metrics?key=[removed by doctor]',
      origin: 'file',
    },
    attributes: { value: [{ name: 'api_key', source: '[removed by doctor]', default: '[removed by doctor]' }] },
  });
  expect(processes.trees.map((one) => one.title)).toContain('VLLM::Worker');
}, 120_000);

it('has no secret of settings that are wrong, which a message quotes', async () => {
  const [directory, file] = [temporaryDirectory(), folder()];
  for (const [i, wrong] of [
    `http//me:${SECRET}@host`,
    `me:${SECRET}@host:9`,
    `ftp://me:a@${SECRET}/x@host`,
  ].entries()) {
    const { code } = await bundled(['--dir', directory, '--bundle', `${file}${i}`], {
      NIXL_OTEL_CONFIG: settingsFile(`serve: { otlpEndpoint: '${wrong}' }`),
    });
    expect(code).toBe(0);
    expect(bundleIn(`${file}${i}`).findings[0]).toMatchObject({ finding: 'wrong-setting' });
    expect(readFileSync(`${file}${i}`, 'utf8')).not.toContain(SECRET);
  }
});

it('has rings and versions of wheels also where the settings are wrong', async () => {
  const [directory, file, python] = [temporaryDirectory(), folder(), temporaryDirectory()];
  const library = path.join(python, 'nixl_cu12/libnixl.so');
  mkdirSync(path.dirname(library));
  copyFileSync(nixlLibraries(false), library);
  for (const name of ['nixl_cu12-1.5.1', 'vllm-0.32.0+cpu', 'secretive-7.0.0']) {
    mkdirSync(path.join(python, `${name}.dist-info`));
  }
  const pid = await startEngine('VLLM::Worker', ring(directory, 'agent'), { LD_PRELOAD: library });
  const env = { NIXL_TELEMETRY_DIR: directory, NIXL_TELEMETRY_PROMETHEUS_PORT: 'many' };
  expect((await bundled(['--bundle', file], env)).code).toBe(0);
  const { findings, directories, processes } = bundleIn(file);
  expect(findings[0]).toMatchObject({ finding: 'wrong-setting' });
  expect(directories).toMatchObject([{ ringCount: 1, rings: [{ agent: 'agent', writers: [pid] }] }]);
  const worker = processes.trees.find((one) => one.pid === pid)!;
  expect(worker).toMatchObject({ libraries: [library], wheels: ['nixl_cu12-1.5.1', 'vllm-0.32.0+cpu'] });
});

function settingsFile(text: string): string {
  const file = `${temporaryDirectory()}/settings.yaml`;
  writeFileSync(file, text);
  return file;
}

it('has the answers of a serve that asks for a user, and not the password', async () => {
  const config = { basic_auth_users: { reader: hashOf(SECRET) } };
  const serve = await new GuardedServe(config, { auth: `reader:${SECRET}` }).started();
  const [file, refused] = [folder(), folder()];
  const flags = ['--url', new URL('/', serve.url).href, '--user', 'reader', '--bundle'];
  await bundled([...flags, file], { NIXL_OTEL_PASSWORD: SECRET });
  expect(bundleIn(file).serves).toMatchObject([{ answers: { readyz: { status: 200 }, 'api/v1/incidents': {} } }]);
  const inAddress = new URL('/', serve.url);
  [inAddress.username, inAddress.password] = ['reader', SECRET];
  await bundled(['--url', inAddress.href, '--bundle', `${file}2`]);
  expect(bundleIn(`${file}2`).serves).toMatchObject([{ answers: { readyz: { status: 200 } } }]);
  for (const one of [file, `${file}2`]) expect(readFileSync(one, 'utf8')).not.toContain(SECRET);
  await bundled(['--url', inAddress.origin, '--bundle', refused]);
  expect(bundleIn(refused).serves[0]!.answers!['api/v1/incidents']).toEqual({
    status: 401,
    problem: 'no figures in the answer',
  });
});

it('says of another program on the port that it is none of serve, and keeps none of its text', async () => {
  const program =
    'require("http").createServer((q,a)=>a.end("private")).listen(0,"127.0.0.1",function(){console.log(this.address().port)})';
  const other = new RunningCommand(process.execPath, ['-e', program]);
  const [, port] = await other.says(/(\d+)/);
  const file = folder();
  await bundled(['--dir', temporaryDirectory(), '--bundle', file], { OTEL_EXPORTER_PROMETHEUS_PORT: port });
  expect(bundleIn(file).serves).toEqual([
    { address: `http://127.0.0.1:${port}/`, problem: 'another program answers there' },
  ]);
  expect(readFileSync(file, 'utf8')).not.toContain('private');
});

it('is small with 300 agents', async () => {
  const [directory, file] = [temporaryDirectory(), folder()];
  for (let i = 0; i < 300; i++) ring(directory, `agent-${i}`);
  await bundled(['--dir', directory, '--bundle', file], { OTEL_EXPORTER_PROMETHEUS_PORT: String(await freePort()) });
  expect(bundleIn(file).directories[0]!.rings).toHaveLength(300);
  expect(statSync(file).size).toBeLessThan(1e6);
});

it('overwrites no file, follows no link, and says what keeps it from writing', async () => {
  const [directory, file] = [temporaryDirectory(), folder()];
  const refused = async (name: string, reason: string, flags: readonly string[] = []): Promise<void> => {
    const { code, stdout, stderr } = await bundled(['--dir', directory, '--bundle', name, ...flags]);
    expect(stderr).toContain(reason);
    expect({ code: code! > 0, stdout }).toEqual({ code: true, stdout: '' });
  };
  writeFileSync(file, 'mine');
  await refused(file, `${file} cannot be written: it exists, and doctor overwrites no file`);
  expect(readFileSync(file, 'utf8')).toBe('mine');
  symlinkSync(`${file}.target`, `${file}.link`);
  await refused(`${file}.link`, 'it exists');
  expect(existsSync(`${file}.target`)).toBe(false);
  await refused('/no/such/folder/report.json', 'ENOENT');
  if (IS_ROOT) await refused('/proc/report.json', 'ENOENT');
  await refused(path.join(directory, 'report.json'), 'would be among the rings');
  expect(existsSync(path.join(directory, 'report.json'))).toBe(false);
  await refused(`${file}.json`, '--json and --bundle exclude each other', ['--json']);
});

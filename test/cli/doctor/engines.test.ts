/** doctor beside an engine's processes: those that rename themselves, and those that have NIXL and no agent. */
import { chmodSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { inspectRing, RingWriter } from '../../../src/shm-bridge/index.js';
import { compiledProgram } from '../../support/preload.js';
import { MAIN, ROOT, RunningCommand, temporaryDirectory, until } from '../command.js';
import { diagnose, IS_ROOT, MAY_UNSHARE, nixlLibraries, startAgentWithoutRing, troubles } from './doctor.js';

let directory = '';
const engine = compiledProgram('engine.c');
beforeEach(() => {
  directory = temporaryDirectory();
  chmodSync(directory, 0o750);
});

const on = () => ({ NIXL_TELEMETRY_ENABLE: 'y', NIXL_TELEMETRY_DIR: directory });

/** Makes the ring of an agent whose process maps it later. */
function ring(name: string, folder = directory): string {
  const writer = new RingWriter(path.join(folder, name), { wireVersion: 4, capacity: 4096 });
  writer.push({ type: 0, value: 1n });
  writer.close();
  return writer.path;
}

/** Starts a process of an engine under a title. `through`: a command that starts it. */
async function startEngine(
  title: string,
  { rings = [] as readonly string[], env = {}, through = [] as readonly string[] } = {},
): Promise<RunningCommand> {
  const [program = '', ...args] = [...through, engine, title, ...rings];
  const started = new RunningCommand(program, args, { LD_PRELOAD: nixlLibraries(rings.length > 0), ...env });
  await started.says(/ready/);
  return started;
}

describe.runIf(MAY_UNSHARE && IS_ROOT)('on a host with a healthy vLLM', () => {
  /** Starts a namespace of processes, as that of a host. @returns the command that starts processes in it */
  async function host(): Promise<string[]> {
    const flags = ['--pid', '--fork', '--kill-child', '--mount-proc'];
    const { pid } = new RunningCommand('unshare', [...flags, 'sleep', '1000']).child;
    const children = `/proc/${pid}/task/${pid}/children`;
    await until(() => readFileSync(children, 'utf8') !== '');
    const [first] = readFileSync(children, 'utf8').split(' ');
    await until(() => readFileSync(`/proc/${first}/comm`, 'utf8') === 'sleep\n');
    return ['nsenter', `--target=${first}`, '--pid', '--mount', `--wd=${ROOT}`];
  }

  /** Starts the processes of `vllm serve --tensor-parallel-size 2`, as one showed them, and serve as the README says. */
  async function startAll(through: readonly string[]): Promise<void> {
    await startEngine('', { env: on(), through }); // the API server keeps its name
    await startEngine('VLLM::EngineCor', { env: on(), through });
    for (const rank of [0, 1]) {
      await startEngine(`VLLM::Worker_TP${rank}`, { rings: [ring(`agent-${rank}`)], env: on(), through });
    }
    const [program = '', ...args] = [...through, process.execPath, 'dist/cli/main.js', 'serve', '--port', '0'];
    await new RunningCommand(program, args, { NIXL_TELEMETRY_DIR: directory }).says(/drained every/);
    await until(() => [0, 1].every((rank) => inspectRing(path.join(directory, `agent-${rank}`)).consumed));
  }

  it('says nothing, and exits with 0', async () => {
    const through = await host();
    await startAll(through);
    // The variables of a container are those of each program in it, such as `nixl-otel doctor | grep`.
    const grep = new RunningCommand(through[0]!, [...through.slice(1), 'tail', '-f', MAIN], on());
    await grep.says(/nixl-otel/);
    const env = { OTEL_EXPORTER_PROMETHEUS_PORT: '0' };
    for (const flags of [['--dir', directory], []]) {
      const diagnosis = await diagnose(flags, env, through);
      expect(troubles(diagnosis)).toEqual([]);
      expect(diagnosis.code).toBe(0);
      const said = diagnosis.findings.map(({ what }) => what);
      expect(said).toContain("has loaded NIXL's library and no plug-in of a backend: it seems to have made no agent");
      expect(said).toContainEqual(expect.stringMatching(/^2 rings drained by process \d+ \(nixl-otel\)$/));
    }
  });

  it('has nothing to say of another deployment', async () => {
    const through = await host();
    await startAll(through);
    const other = temporaryDirectory();
    chmodSync(other, 0o750);
    const env = { ...on(), NIXL_TELEMETRY_DIR: other };
    await startEngine('VLLM::Worker', { rings: [ring('other', other)], env, through });
    await startEngine('', { env: { ...env, LD_PRELOAD: nixlLibraries() }, through }); // has no ring yet
    const besides = { OTEL_EXPORTER_PROMETHEUS_PORT: '0' };
    // Its rings are the first fault: nothing drains them.
    const undrained = await diagnose(['--dir', directory], besides, through);
    expect(troubles(undrained)).toMatchObject([{ status: 'note', finding: 'directory-elsewhere' }]);
    const [program = '', ...args] = [...through, process.execPath, MAIN, 'serve', '--dir', other, '--port', '0'];
    new RunningCommand(program, args);
    await until(() => inspectRing(path.join(other, 'other')).consumed === true);
    const diagnosis = await diagnose(['--dir', directory], besides, through);
    expect(troubles(diagnosis)).toEqual([]);
    expect(diagnosis.code).toBe(0);
  });
});

it('states nothing about variables that an engine overwrote', async () => {
  const renamed = await startEngine('VLLM::Worker_TP0', { env: on() });
  const { findings } = await diagnose(['--pid', String(renamed.child.pid)]);
  expect(findings).toMatchObject([{ status: 'ok', finding: 'process' }]);
  const agent = await startEngine('VLLM::Worker_TP1', { env: { ...on(), LD_PRELOAD: nixlLibraries() } });
  const { findings: ofAgent } = await diagnose(['--pid', String(agent.child.pid)]);
  expect(ofAgent).toMatchObject([{ status: 'note', finding: 'no-ring-of-process' }]);
  expect(ofAgent[0]!.what).toContain('its variables cannot be read');
});

it('takes serve for itself from any folder', async () => {
  const serve = new RunningCommand(
    process.execPath,
    ['main.js', 'serve', '--dir', directory, '--port', '0'],
    {},
    path.join(ROOT, 'dist/cli'),
  );
  await serve.says(/drained every/);
  await startEngine('VLLM::Worker', { rings: [ring('agent')] });
  await until(() => inspectRing(path.join(directory, 'agent')).consumed === true);
  const { findings } = await diagnose(['--dir', directory]);
  expect(findings.map(({ what }) => what)).toContain(`1 ring drained by process ${serve.child.pid} (nixl-otel)`);
  await serve.stop();
});

it('only notes wrong variables while a process has no agent', async () => {
  const agentless = await startAgentWithoutRing({ NIXL_TELEMETRY_DIR: directory }, [], nixlLibraries(false));
  const found = troubles(await diagnose(['--dir', directory]), `process ${agentless.child.pid} `);
  expect(found).toMatchObject([{ status: 'note', finding: 'telemetry-off' }]);
});

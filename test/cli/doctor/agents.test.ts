/** doctor on processes that write no ring, or a small one: their variables, directories, users and mounts. */
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { NOBODY } from '../../support/as-nobody.js';
import { RingProcess } from '../../support/ring-process.js';
import { RunningCommand, temporaryDirectory, until } from '../command.js';
import { diagnose, IS_ROOT, MAY_UNSHARE, startAgentWithoutRing, troubles } from './doctor.js';

const ON = { NIXL_TELEMETRY_ENABLE: 'y' };

it.each([
  [{}, 'telemetry-off', 'was started without NIXL_TELEMETRY_ENABLE'],
  [{ NIXL_TELEMETRY_ENABLE: 'no' }, 'telemetry-vetoed', 'was started with NIXL_TELEMETRY_ENABLE=no'],
  [{ NIXL_TELEMETRY_ENABLE: 'perhaps' }, 'wrong-enable', 'NIXL_TELEMETRY_ENABLE=perhaps; allowed: y, yes,'],
  [{ ...ON, NIXL_TELEMETRY_EXPORTER: 'prometheus' }, 'other-exporter', 'NIXL_TELEMETRY_EXPORTER=prometheus'],
])('finds an agent with the variables %j: %s', async (env, name, what) => {
  const directory = temporaryDirectory();
  const agent = await startAgentWithoutRing({ NIXL_TELEMETRY_DIR: directory, ...env });
  const subject = `process ${agent.child.pid} (sleep)`;
  for (const flags of [
    ['--dir', directory],
    ['--pid', String(agent.child.pid)],
  ]) {
    const diagnosis = await diagnose(flags);
    expect(troubles(diagnosis, subject)).toMatchObject([{ status: 'problem', finding: name }]);
    expect(troubles(diagnosis, subject)[0]!.what).toContain(what);
    expect(diagnosis.code).toBe(1);
  }
});

it('gives the command that sets the variables, with the directory', async () => {
  const directory = path.join(temporaryDirectory(), "agents' rings");
  mkdirSync(directory);
  const agent = await startAgentWithoutRing({ NIXL_TELEMETRY_DIR: directory });
  const { findings } = await diagnose(['--pid', String(agent.child.pid)]);
  const quoted = `'${directory.replace("'", String.raw`'\''`)}'`;
  expect(findings.find(({ finding }) => finding === 'telemetry-off')?.mend).toBe(
    `export NIXL_TELEMETRY_ENABLE=y NIXL_TELEMETRY_DIR=${quoted} # then start the process again`,
  );
});

it('finds an agent without a directory, and one with another directory', async () => {
  const [directory, elsewhere] = [temporaryDirectory(), temporaryDirectory()];
  const without = await startAgentWithoutRing(ON);
  const other = await startAgentWithoutRing({ ...ON, NIXL_TELEMETRY_DIR: elsewhere });
  const diagnosis = await diagnose(['--dir', directory]);
  expect(troubles(diagnosis, `process ${without.child.pid} `)).toMatchObject([
    { status: 'problem', finding: 'directory-unset', mend: expect.stringContaining(directory) as string },
  ]);
  expect(troubles(diagnosis, `process ${other.child.pid} `)).toMatchObject([
    { status: 'problem', finding: 'directory-elsewhere', mend: `nixl-otel serve --dir ${elsewhere}` },
  ]);
});

it('finds an agent whose directory does not exist, and one that has written no ring yet', async () => {
  const directory = path.join(temporaryDirectory(), 'missing');
  const agent = await startAgentWithoutRing({ ...ON, NIXL_TELEMETRY_DIR: directory });
  const args = ['--pid', String(agent.child.pid)];
  expect(troubles(await diagnose(args), directory)).toMatchObject([
    { finding: 'directory-missing', mend: expect.stringMatching(`^mkdir -m 0750 ${directory} #`) as string },
  ]);
  mkdirSync(directory);
  expect(troubles(await diagnose(args)).map(({ finding }) => finding)).toEqual(['no-ring-of-process', 'no-rings']);
});

it.runIf(IS_ROOT)('finds an agent whose user may not write into the directory', async () => {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o755);
  const env = { ...ON, NIXL_TELEMETRY_DIR: directory };
  const agent = await startAgentWithoutRing(env, ['setpriv', `--reuid=${NOBODY}`, '--clear-groups']);
  expect(troubles(await diagnose(['--dir', directory]), `process ${agent.child.pid} `)).toMatchObject([
    { finding: 'agent-may-not-write', mend: expect.stringContaining(`chown ${NOBODY} ${directory} `) as string },
  ]);
});

it.runIf(MAY_UNSHARE)('finds an agent in another mount namespace, and reads its rings by its pid', async () => {
  const directory = temporaryDirectory();
  const mount = `mount -t tmpfs none ${directory} && exec "$@"`;
  const elsewhere = ['unshare', '-m', 'sh', '-ec', mount, 'sh'];
  const agent = await startAgentWithoutRing({ ...ON, NIXL_TELEMETRY_DIR: directory }, elsewhere);
  expect(troubles(await diagnose(['--dir', directory]), `process ${agent.child.pid} `)).toMatchObject([
    { status: 'problem', finding: 'other-mount' },
  ]);
  const { findings } = await diagnose(['--pid', String(agent.child.pid)]);
  expect(findings.map(({ finding }) => finding)).toContain('open-directory'); // mode 1777 of a new tmpfs
});

it('says nothing of a process that has the variables and not the library, such as a shell', async () => {
  const directory = temporaryDirectory();
  const shell = new RingProcess({ NIXL_TELEMETRY_DIR: directory });
  const ring = path.join(temporaryDirectory(), 'agent');
  await shell.write({ path: ring, wireVersion: 4, events: [] });
  await until(() => existsSync(ring));
  expect(troubles(await diagnose(['--dir', directory]), `process ${shell.pid} `)).toEqual([]);
});

it('notes that the process of --pid has not loaded the library', async () => {
  const { pid } = new RunningCommand('sleep', ['1000']).child;
  await until(() => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n');
  const { findings } = await diagnose(['--pid', String(pid)]);
  expect(findings.map(({ finding }) => finding)).toEqual(['no-library', 'telemetry-off', 'directory-unset']);
});

it('checks the directories of agents if no setting names one', async () => {
  const directory = temporaryDirectory();
  await startAgentWithoutRing({ ...ON, NIXL_TELEMETRY_DIR: directory });
  expect(troubles(await diagnose([]), directory)).toMatchObject([{ finding: 'no-rings' }]);
});

it('reports a pid that no process has', async () => {
  expect(await diagnose(['--pid', String(2 ** 22)])).toMatchObject({ code: 1, findings: [{ finding: 'no-process' }] });
});

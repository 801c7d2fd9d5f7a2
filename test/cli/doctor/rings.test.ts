/** doctor on directories and rings: rights, file systems, headers, writers, consumers. */
import { chmodSync, existsSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FINDINGS } from '../../../src/cli/doctor/findings.js';
import { INCOHERENT_FILE_SYSTEMS } from '../../../src/cli/doctor/directory-checks.js';
import { inspectRing, openRing, RingWriter } from '../../../src/shm-bridge/index.js';
import { startingEngines } from '../../../src/shm-bridge/starting-engines.js';
import { MAY_BE_NOBODY, NOBODY, startAsNobody } from '../../support/as-nobody.js';
import { compiledProgram, preloadable } from '../../support/preload.js';
import { header } from '../../support/rings.js';
import {
  ROOT,
  RunningCommand,
  start,
  startTransferSource,
  temporaryDirectory,
  TRANSFER_SOURCE,
  until,
} from '../command.js';
import { runHere } from '../in-process.js';
import { diagnose, diagnosisOf, inShortTime, IS_ROOT, MAY_UNSHARE, troubles } from './doctor.js';

/** Makes a ring that a process has mapped as an agent has. */
async function ringIn(directory: string, agent = 'agent'): Promise<RingWriter> {
  const writer = new RingWriter(path.join(directory, agent), { wireVersion: 4, capacity: 4096 });
  onTestFinished(() => writer.close());
  await new RunningCommand(compiledProgram('engine.c'), ['', writer.path]).says(/ready/);
  return writer;
}

function fill(writer: RingWriter): void {
  while (writer.push({ type: 0, value: 1n }));
}

/** A directory that only its owner may write. */
function privateDirectory(): string {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o750);
  return directory;
}

it('finds nothing wrong with agents that serve drains', async () => {
  const directory = privateDirectory();
  const serve = start(['serve', '--dir', directory, '--port', '0']);
  await serve.says(/serves/);
  const agents = startTransferSource(['--dir', directory, '--seconds', '0', '--copy-free'], {
    NIXL_TELEMETRY_DIR: directory,
  });
  const ring = path.join(directory, 'agent-0');
  await until(() => inspectRing(ring).consumed === true);
  // By pid: other tests run processes with mistakes at the same time.
  const { code, findings } = await diagnose(['--pid', String(agents.child.pid)]);
  expect(code).toBe(0);
  expect(findings.map(({ status, finding }) => [status, finding])).toEqual([
    ['ok', 'process'],
    ['ok', 'directory'],
    ['ok', 'rings'],
    ['ok', 'writers'],
    ['ok', 'consumers'],
  ]);
  expect(findings.at(-1)!.what).toBe(`1 ring drained by process ${serve.child.pid} (nixl-otel)`);
});

it('changes no byte of a ring', async () => {
  const directory = privateDirectory();
  fill(await ringIn(directory));
  const before = readFileSync(path.join(directory, 'agent'));
  await diagnose(['--dir', directory]);
  expect(readFileSync(path.join(directory, 'agent')).equals(before)).toBe(true);
});

describe('finds', () => {
  it('a directory without rings, one that is missing, and a file', async () => {
    const directory = privateDirectory();
    const [missing, file] = [path.join(directory, 'missing'), path.join(privateDirectory(), 'file')];
    writeFileSync(file, '');
    const diagnosis = await diagnose(['--dir', directory, '--dir', missing, '--dir', file]);
    expect(troubles(diagnosis, missing)).toMatchObject([{ finding: 'directory-missing' }]);
    expect(troubles(diagnosis, directory)).toMatchObject([{ finding: 'no-rings' }, { finding: 'directory-missing' }]);
    const serve = `nixl-otel serve --dir ${path.dirname(file)}`;
    expect(troubles(diagnosis, file)).toMatchObject([{ finding: 'not-a-directory', mend: serve }]);
    expect(diagnosis.code).toBe(1);
  });

  it('a directory for which an engine is starting', async () => {
    const directory = privateDirectory();
    const program = path.join(temporaryDirectory(), 'vllm');
    symlinkSync(compiledProgram('engine.c'), program);
    new RunningCommand(program, ['serve', 'org/model'], { WORKERS: '', NIXL_TELEMETRY_DIR: directory });
    await until(() => startingEngines(directory) !== undefined);
    expect(troubles(await diagnose(['--dir', directory]), directory)).toMatchObject([
      { status: 'note', finding: 'rings-to-come', what: 'the directory has no rings yet: 1 vLLM instance is starting' },
    ]);
  });

  it('a directory in which any user may create rings', async () => {
    const directory = temporaryDirectory();
    chmodSync(directory, 0o1777);
    expect(troubles(await diagnose(['--dir', directory]), directory)[0]).toMatchObject({
      status: 'note',
      finding: 'open-directory',
      what: 'any user may write: its mode is 1777',
      mend: `chmod 0750 ${directory}`,
    });
  });

  it.runIf(MAY_BE_NOBODY)(
    'an open directory whose mode this user may not change, and agents that it may not examine',
    async () => {
      const directory = temporaryDirectory();
      await ringIn(directory);
      chmodSync(directory, 0o1777);
      const found = troubles(await diagnosisOf(startAsNobody(['doctor', '--json', '--dir', directory])), directory);
      const mend = `nixl-otel serve --dir ${directory} --owner ${NOBODY} # reads rings of these users alone`;
      expect(found).toContainEqual(expect.objectContaining({ status: 'note', finding: 'open-volume', mend }));
      const inHost = readlinkSync('/proc/self/ns/pid') === 'pid:[4026531836]';
      const unseen = found.filter(({ finding }) => finding.startsWith('writer-')).map(({ finding }) => finding);
      expect(unseen).toEqual([inHost ? 'writer-hidden' : 'writer-unseen']);
    },
  );

  it('a directory on NFS, unless the configuration forces it', async () => {
    const directory = privateDirectory();
    fill(await ringIn(directory));
    const env = { LD_PRELOAD: preloadable('on-nfs.c') };
    const found = troubles(await diagnose(['--dir', directory], env, []), directory);
    expect(found.map(({ finding, what }) => [finding, what])).toEqual([
      ['network-file-system', 'the directory is on NFS'],
    ]);
    const config = path.join(temporaryDirectory(), 'config.json');
    writeFileSync(config, '{ "force": true }');
    const forced = await diagnose(['--dir', directory], { ...env, NIXL_OTEL_CONFIG: config }, []);
    expect(troubles(forced, directory)).toMatchObject([{ finding: 'full-undrained' }]);
  });

  it.runIf(MAY_BE_NOBODY)('rings of another user, and processes that it may not examine', async () => {
    const directory = temporaryDirectory();
    chmodSync(directory, 0o755);
    await ringIn(directory);
    const diagnosis = await diagnosisOf(startAsNobody(['doctor', '--json', '--dir', directory]));
    expect(troubles(diagnosis, directory)).toContainEqual(
      expect.objectContaining({
        finding: 'ring-not-writable',
        what: 'user 65534 may not write agent, of user 0',
        mend: `sudo -u '#0' nixl-otel serve --dir ${directory} # the agents' user`,
      }),
    );
    expect(troubles(diagnosis, 'processes')).toMatchObject([{ status: 'note', finding: 'processes-hidden' }]);
    chmodSync(directory, 0o700);
    const locked = await diagnosisOf(startAsNobody(['doctor', '--json', '--dir', directory]));
    expect(troubles(locked, directory)).toMatchObject([{ finding: 'directory-unreadable' }]);
  });

  it.runIf(MAY_BE_NOBODY)('no note of hidden processes, while the process of each ring is known', async () => {
    const directory = temporaryDirectory();
    chmodSync(directory, 0o777);
    const flags = ['--dir', directory, '--agents', '1', '--seconds', '0'];
    const nobody = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
    const source = new RunningCommand('setpriv', [...nobody, TRANSFER_SOURCE, ...flags]);
    await until(() => existsSync(path.join(directory, 'agent-0')));
    const diagnosis = await diagnosisOf(startAsNobody(['doctor', '--json', '--dir', directory]));
    expect(diagnosis.findings).toContainEqual(
      expect.objectContaining({
        status: 'ok',
        subject: 'processes',
        what: expect.stringContaining('is known') as string,
      }),
    );
    await source.stop();
  });

  it('files that are no ring, and a ring of a wire version that is not known', async () => {
    const directory = privateDirectory();
    (await ringIn(directory)).close();
    const bytes = readFileSync(path.join(directory, 'agent'));
    bytes.writeInt32LE(77, 16);
    writeFileSync(path.join(directory, 'newer'), bytes);
    writeFileSync(path.join(directory, 'truncated'), bytes.subarray(0, header(4).size - 1));
    writeFileSync(path.join(directory, 'empty'), '');
    const found = troubles(await diagnose(['--dir', directory]), directory);
    expect(found.map(({ status, finding, what }) => [status, finding, what.split(':')[0]])).toEqual(
      expect.arrayContaining([
        ['note', 'ring-starting', 'empty'],
        ['problem', 'unknown-wire-version', 'newer'],
        ['problem', 'not-a-ring', 'truncated'],
      ]),
    );
    writeFileSync(path.join(directory, 'cut off'), bytes.subarray(0, 5));
    const both = troubles(await diagnose(['--dir', directory]), directory);
    const mend = both.find(({ finding }) => finding === 'not-a-ring')?.mend;
    expect(mend).toContain(`file '${path.join(directory, 'cut off')}' ${path.join(directory, 'truncated')} #`);
  });

  it('a full ring that nothing drains', async () => {
    const directory = privateDirectory();
    fill(await ringIn(directory));
    expect(troubles(await diagnose(['--dir', directory]), directory)).toMatchObject([
      { status: 'problem', finding: 'full-undrained', what: 'full, and no consumer drains: agent' },
    ]);
  });

  it('a full ring whose consumer is stopped', async () => {
    const directory = privateDirectory();
    const writer = await ringIn(directory);
    const serve = start(['serve', '--dir', directory, '--port', '0']);
    await until(() => inspectRing(writer.path).consumed === true);
    serve.child.kill('SIGSTOP');
    await until(() => / T /.test(readFileSync(`/proc/${serve.child.pid}/stat`, 'utf8')));
    fill(writer);
    const found = troubles(await diagnose(['--dir', directory]), directory);
    serve.child.kill('SIGCONT');
    expect(found).toMatchObject([
      {
        status: 'problem',
        finding: 'full-held',
        mend: expect.stringMatching(`^kill -CONT ${serve.child.pid} `) as string,
      },
    ]);
  });

  it('a full ring whose consumer drains it', async () => {
    const directory = privateDirectory();
    const writer = await ringIn(directory);
    const consumer = openRing(writer.path);
    onTestFinished(() => consumer.close());
    fill(writer);
    // The ring is full at nearly each look, and hardly ever with the same events.
    const turn = setInterval(() => {
      consumer.drain(7);
      fill(writer);
    }, 5);
    onTestFinished(() => clearInterval(turn));
    const statuses = async () => troubles(await diagnose(['--dir', directory]), directory);
    const mend = expect.stringContaining(
      `NIXL_TELEMETRY_BUFFER_SIZE=${4 * inspectRing(writer.path).capacity!} `,
    ) as string;
    await expect.poll(statuses).toMatchObject([{ status: 'problem', finding: 'full-at-times', mend }]);
  });

  it('rings that nothing drains, with the number of their events', async () => {
    const directory = privateDirectory();
    for (const agent of ['a', 'b', 'c', 'd', 'e']) (await ringIn(directory, agent)).push({ type: 0, value: 1n });
    expect(troubles(await diagnose(['--dir', directory]), directory)).toMatchObject([
      { status: 'problem', finding: 'undrained', what: 'no consumer drains: a, b, c and 2 more; 5 events pending' },
    ]);
  });

  it('a ring whose agent has ended, as far as this user may know', async () => {
    const directory = privateDirectory();
    new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 }).close();
    const [found] = troubles(await diagnose(['--dir', directory]), directory);
    expect(['writer-gone', 'writer-hidden', 'writer-unseen']).toContain(found?.finding);
  });

  it.runIf(MAY_UNSHARE && IS_ROOT)('a ring whose agent is in another PID namespace', async () => {
    const directory = privateDirectory();
    await ringIn(directory);
    const elsewhere = ['unshare', '--pid', '--fork', '--mount-proc'];
    const found = troubles(await diagnose(['--dir', directory], {}, elsewhere), directory);
    expect(found[0]).toMatchObject({ status: 'note', finding: 'writer-unseen' });
  });
});

it('knows the file systems that the native part refuses', () => {
  const source = readFileSync(path.join(ROOT, 'native/ring/ring_file.cc'), 'utf8');
  const cases = /const char\* incoherentFileSystem[^]*?\n\}/.exec(source)![0];
  const numbers = [...cases.matchAll(/\{(0x\w+), "/g)].map(([, number]) => Number(number));
  expect(Object.keys(INCOHERENT_FILE_SYSTEMS).map(Number).sort()).toEqual(numbers.sort());
  for (const name of Object.values(INCOHERENT_FILE_SYSTEMS)) expect(cases).toContain(`"${name}"`);
});

it('finds small rings by their headers, and watches them until they are full', async () => {
  const directory = privateDirectory();
  const serve = start(['serve', '--dir', directory, '--port', '0']);
  await serve.says(/serves/);
  const small = { NIXL_TELEMETRY_BUFFER_SIZE: '16' };
  startTransferSource(['--dir', directory, '--seconds', '0', '--copy-free', '--rate', '200'], small);
  await until(() => inspectRing(path.join(directory, 'agent-0')).consumed === true);
  await expect
    .poll(async () => troubles(await diagnose(['--dir', directory]), directory))
    .toMatchObject([
      { status: 'note', finding: 'small-buffer', what: 'rings of 16 slots: agent-0' },
      { status: 'problem', finding: 'full-at-times' },
    ]);
});

it('ends with 0 if there are notes alone', async () => {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o777);
  const serve = start(['serve', '--dir', directory, '--port', '0']);
  await serve.says(/serves/);
  const agents = startTransferSource(['--dir', directory, '--seconds', '0'], { NIXL_TELEMETRY_DIR: directory });
  const ring = path.join(directory, 'agent-0');
  await until(() => existsSync(ring) && inspectRing(ring).consumed === true);
  const { code, stderr, stdout } = await inShortTime(() => runHere(['doctor', '--pid', String(agents.child.pid)]));
  expect(stdout).toMatch(/^note .*\[open-directory\]$/m);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

it('prints each finding with its reason and its command', async () => {
  const directory = path.join(temporaryDirectory(), 'missing');
  const { code, stdout, stderr } = await runHere(['doctor', '--dir', directory]);
  expect(stdout).toContain(
    [
      `problem  ${directory}: the directory does not exist [directory-missing]`,
      `         why: ${FINDINGS['directory-missing'].why}`,
      `         do:  mkdir -m 0750 ${directory} # as the agents' user, then start the agents again`,
    ].join('\n'),
  );
  expect(stderr).toMatch(/^nixl-otel: error: \d+ problems?(, \d+ notes?)?\n$/);
  expect(code).toBe(1);
});

/** The users and rights that the Helm chart gives, with the kernel: the directory of rings on a node, and processes of root. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, lchownSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { MAIN, startTransferSource, temporaryDirectory, until } from '../cli/command.js';
import { type Container, containersOf, podSpecs } from '../deploy/manifests.js';
import { ChartTools, type Values } from './chart.js';

const tools = (await ChartTools.build())!; // without them, no test below runs
const canBeOthers = process.getuid!() === 0 && existsSync('/usr/bin/setpriv');

const image = { repository: 'registry.example.com/nixl-otel' };
const sidecar = { image, mode: 'sidecar', sidecar: { demo: true } };
const severalUsers = { image, agents: { severalUsers: true, group: 1000650000 } };

/** A directory on a node that exists before nixl-otel. */
interface Made {
  uid: number;
  gid?: number;
  mode: number;
  link?: boolean;
}

describe.runIf(tools !== undefined && canBeOthers)('the chart', () => {
  const asUser = (id: number, capabilities: readonly string[] = []): string[] => [
    ...[`--reuid=${id}`, `--regid=${id}`, '--clear-groups', '--no-new-privs', '--inh-caps=-all'],
    ['--bounding-set=-all', ...capabilities.map((name) => `+${name.toLowerCase()}`)].join(','),
  ];

  const sharedDirectory = (): string => {
    const directory = temporaryDirectory();
    chmodSync(directory, 0o1777); // as /dev/shm
    return directory;
  };

  /** Runs the init container of a DaemonSet, with another parent of the directory. */
  const makeDirectory = (parent: string, values: Values = { image }, as = asUser(1000)) => {
    const { command } = containersOf(podSpecs(tools.manifests(values))[0]!)[0]!;
    const words = command!.map((word) => word.replaceAll('/host/', `${parent}/`));
    const { status, stderr } = spawnSync('setpriv', [...as, ...words], { encoding: 'utf8' });
    return { status, stderr };
  };

  test('make-directory lets the agents write rings, and nobody else', () => {
    const parent = sharedDirectory();
    for (let i = 0; i < 2; i += 1) expect(makeDirectory(parent)).toEqual({ status: 0, stderr: '' });
    const { mode, uid } = statSync(path.join(parent, 'nixl'));
    expect({ mode: (mode & 0o7777).toString(8), uid }).toEqual({ mode: '750', uid: 1000 });
  });

  const OWN = ', or: cd /dev/shm && chown 1000 nixl && chmod 0750 nixl';
  test.each([
    ['of root and the group of the agents', { uid: 0, gid: 1000, mode: 0o1770 }, ''],
    ['that hostPath made as root', { uid: 0, mode: 0o755 }, 'directory of user 0 with mode 755', OWN],
    ['of root alone', { uid: 0, mode: 0o700 }, 'directory of user 0 with mode 700', OWN],
    ['that cannot be entered', { uid: 1000, mode: 0o640 }, 'directory of user 1000 with mode 640', OWN],
    ['of another user', { uid: 1001, mode: 0o750 }, 'directory of user 1001 with mode 750'],
    ['in which others may write', { uid: 1000, mode: 0o777 }, 'directory of user 1000 with mode 777'],
    ['that is a link', { uid: 1001, mode: 0o750, link: true }, 'symbolic link of user 1001 with mode 777'],
  ])('make-directory examines a directory %s', (_, { uid, gid = uid, mode, link = false }: Made, found, own = '') => {
    const parent = sharedDirectory();
    const directory = path.join(parent, 'nixl');
    mkdirSync(link ? `${directory}-1` : directory);
    if (link) symlinkSync(`${directory}-1`, directory);
    else chmodSync(directory, mode);
    lchownSync(directory, uid, gid);
    const allowed = 'a directory of user 1000 or 0 in which user 1000 may write, and others may not';
    const refusal = `/dev/shm/nixl on the node is a ${found}; allowed: ${allowed}. On the node, remove it${own}\n`;
    expect(makeDirectory(parent)).toEqual(found === '' ? { status: 0, stderr: '' } : { status: 1, stderr: refusal });
  });

  test('make-directory makes a directory of root for agents of several users', () => {
    const parent = sharedDirectory();
    const made = () => makeDirectory(parent, severalUsers, asUser(0, ['DAC_OVERRIDE']));
    expect(made()).toEqual({ status: 0, stderr: '' });
    expect((statSync(path.join(parent, 'nixl')).mode & 0o7777).toString(8)).toBe('1770');
    chownSync(path.join(parent, 'nixl'), 1000, 1000);
    expect(made().stderr).toContain('directory of user 1000 with mode 1770; allowed: a directory of user 0 in which');
  });

  test('beside agents of root sees their processes', async () => {
    const spec = podSpecs(tools.manifests({ ...sidecar, agents: { user: 0 } }))[0]!;
    const container = containersOf(spec).find(({ name }) => name === 'nixl-otel') as Container & {
      securityContext: { capabilities: { add: string[] } };
    };
    const directory = temporaryDirectory();
    const { child } = startTransferSource(['--agents', '1', '--seconds', '0', '--dir', directory]);
    const listWith = (capabilities: readonly string[]): string => {
      const words = [process.execPath, MAIN, 'list', '--dir', directory, '--json'];
      return spawnSync('setpriv', [...asUser(0, capabilities), ...words], { encoding: 'utf8' }).stdout;
    };
    await until(() => listWith(container.securityContext.capabilities.add).includes(`"pid":${child.pid}`));
    const unseen = listWith([]);
    expect(unseen).toContain('"state":"ready"');
    expect(unseen).not.toContain('"pid"');
  });
});

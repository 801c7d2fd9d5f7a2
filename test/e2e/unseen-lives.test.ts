/** Agents whose processes serve may not see: of unknown life everywhere, with the right that is missing. */
import { spawnSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { dist } from '../support/child.js';
import { MAY_BE_NOBODY, NOBODY, startAsNobody } from '../support/as-nobody.js';
import {
  MAIN,
  run,
  RunningCommand,
  scrape,
  start,
  startTransferSource,
  temporaryDirectory,
  until,
  valueOf,
} from '../cli/command.js';

const IN_OWN_NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
/** As root in a container with default capabilities. Since Linux 6.18 PERFMON lets root read mappings. */
const AS_CONTAINER_ROOT = ['setpriv', '--bounding-set', '-sys_ptrace,-perfmon,-sys_admin'];

const canRun = (words: readonly string[]): boolean => spawnSync(words[0]!, [...words.slice(1), 'true']).status === 0;
const isHostRoot = process.getuid!() === 0 && readlinkSync('/proc/self/ns/pid') === 'pid:[4026531836]';

function startServe(directory: string, prefix: readonly string[] = []): RunningCommand {
  const [program, ...args] = [...prefix, process.execPath, MAIN, 'serve', '--dir', directory, '--port', '0'];
  return new RunningCommand(program, args);
}

async function urlOf(serve: RunningCommand): Promise<string> {
  return (await serve.says(/serves (http:\S+) from/))[1]!;
}

const readyz = async (url: string): Promise<string> => (await fetch(new URL('/readyz', url))).text();

interface Answer {
  readonly agents: readonly { readonly life: string; readonly txRequests: number; readonly rxRequests: number }[];
  readonly problems: readonly { readonly path: string; readonly state: string; readonly reason: string }[];
}

async function answerOf(url: string): Promise<Answer> {
  return (await (await fetch(new URL('/api/v1/agents', url))).json()) as Answer;
}

const isUp = (page: string): number | undefined =>
  /^nixl_agent_up\{/m.test(page) ? valueOf(page, 'nixl_agent_up') : undefined;

it.runIf(isHostRoot && canRun(IN_OWN_NAMESPACE)).each([
  ['in a PID namespace of its own', IN_OWN_NAMESPACE, /a PID namespace of its own.*hostPID.*--pid=host/],
  ['of root without the capability', AS_CONTAINER_ROOT, /without the capability SYS_PTRACE/],
])('serve %s knows no life of an agent, before and after its end', async (_, prefix, why) => {
  const directory = temporaryDirectory();
  const agent = startTransferSource(['--dir', directory, '--seconds', '0', '--rate', '100', '--unlocked']);
  const serve = startServe(directory, prefix);
  const url = await urlOf(serve);
  await until(async () => valueOf(await scrape(url), 'nixl_collector_problems', 'state="unseen"') === 1);
  const check = async (): Promise<void> => {
    const page = await scrape(url);
    expect(isUp(page)).toBeUndefined();
    expect(valueOf(page, 'nixl_collector_agents', 'life="unknown"')).toBe(1);
    const { agents, problems } = await answerOf(url);
    expect(agents).toMatchObject([{ life: 'unknown' }]);
    expect(problems).toMatchObject([{ path: directory, state: 'unseen' }]);
    expect(problems[0]!.reason).toMatch(why);
    expect(await readyz(url)).toMatch(why);
    expect(await readyz(url)).not.toContain('not read');
    const top = await run(['top', '--url', url, '--once', '--json']);
    expect(JSON.parse(top.stdout)).toMatchObject({ agents: [{ state: 'unknown' }] });
  };
  await check();
  await agent.stop('SIGKILL');
  await check();
  await serve.says(why);
  serve.child.kill('SIGTERM');
  expect(serve.stderr.match(/cannot be seen/g)).toHaveLength(1);
});

it.runIf(isHostRoot && canRun(IN_OWN_NAMESPACE))(
  'the lock of a RingWriter tells its life over PID namespaces',
  async () => {
    const directory = temporaryDirectory();
    const writes = `
    const { RingWriter } = await import(${JSON.stringify(dist('rings.js'))});
    const ring = new RingWriter(${JSON.stringify(path.join(directory, 'agent'))}, { wireVersion: 4, capacity: 64 });
    ring.push({ type: 2, value: 1n });
    setInterval(() => ring.push({ type: 2, value: 1n }), 1000);`;
    const agent = new RunningCommand(process.execPath, ['--input-type=module', '-e', writes]);
    const serve = startServe(directory, IN_OWN_NAMESPACE);
    const url = await urlOf(serve);
    await until(async () => isUp(await scrape(url)) === 1);
    await agent.stop('SIGKILL');
    await until(async () => isUp(await scrape(url)) === 0);
    expect(await readyz(url)).not.toContain('unseen');
    expect(serve.stderr).not.toContain('cannot be seen');
  },
);

it.runIf(MAY_BE_NOBODY && isHostRoot)('serve of another user names the user', async () => {
  const directory = temporaryDirectory();
  spawnSync('chmod', ['0777', directory]);
  const agent = startTransferSource(['--dir', directory, '--seconds', '0', '--rate', '100', '--unlocked']);
  await until(() => spawnSync('sh', ['-c', `chmod 0666 ${directory}/*`]).status === 0);
  const serve = startAsNobody(['serve', '--dir', directory, '--port', '0']);
  const url = await urlOf(serve);
  await until(async () => (await readyz(url)).includes(`user ${NOBODY} may not examine processes of other users`));
  expect(isUp(await scrape(url))).toBeUndefined();
  await agent.stop();
});

it.runIf(isHostRoot)('serve knows the lives of agents that it may examine, and says nothing of them', async () => {
  const directory = temporaryDirectory();
  const agent = startTransferSource(['--dir', directory, '--seconds', '0', '--rate', '100', '--unlocked']);
  const serve = start(['serve', '--dir', directory, '--port', '0']);
  const url = await urlOf(serve);
  await until(async () => isUp(await scrape(url)) === 1);
  await agent.stop('SIGKILL');
  await until(async () => isUp(await scrape(url)) === 0);
  expect(serve.stderr).not.toContain('cannot be seen');
  expect(await readyz(url)).not.toContain('unseen');
  expect(valueOf(await scrape(url), 'nixl_collector_problems', 'state="unseen"')).toBe(0);
});

/** A directory of rings that becomes full: serve says it before, keeps no state then, and goes on with it later. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentsThatFit, spaceShortage } from '../../src/shm-bridge/place-space.js';
import { run, scrape, start, startTransferSource, until, valueOf } from '../cli/command.js';
import { fillUp, freeBytes, MAY_MOUNT, smallTmpfs } from '../support/small-tmpfs.js';

const MIB = 2 ** 20;
const RING = 17 * 4096;

const space = (given: object) => ({
  totalBytes: 64 * MIB,
  freeBytes: 10 * RING,
  lackBytes: 0,
  live: 3,
  liveBytes: 3 * RING,
  ringBytes: 65_576,
  ended: 13,
  endedBytes: 13 * RING,
  stateBytes: 0,
  ...given,
});

describe('space of a directory', () => {
  it('is told in agents, for rings as large as the largest one', () => {
    expect(agentsThatFit(space({}))).toBe(10);
    expect(agentsThatFit(space({ lackBytes: RING + 1 }))).toBe(8);
    expect(agentsThatFit(space({ lackBytes: 11 * RING }))).toBe(0);
    expect(agentsThatFit(space({ ringBytes: 2 * 65_576 }))).toBe(5);
    expect(agentsThatFit(space({ ringBytes: 0 }))).toBe(10);
    expect(agentsThatFit(space({ totalBytes: 0, freeBytes: 0 }))).toBeUndefined();
  });

  it('is short if a restart of all agents may not fit, or few more fit', () => {
    expect(spaceShortage(space({}))).toBeUndefined();
    expect(spaceShortage(space({ live: 0, freeBytes: 4 * RING }))).toBeUndefined();
    expect(spaceShortage(space({ totalBytes: 0, freeBytes: 0 }))).toBeUndefined();
    expect(spaceShortage(space({ live: 11 }))).toMatch(/^space for 10 more agents \(696 kB free; 11 rings of living/);
    expect(spaceShortage(space({ freeBytes: RING, stateBytes: 8192 }))).toBe(
      'space for 1 more agent (69.6 kB free; 3 rings of living agents: 209 kB; 13 rings of ended agents: 905 kB; state files: 8.19 kB)',
    );
    expect(spaceShortage(space({ freeBytes: RING, lackBytes: 2 * RING }))).toMatch(
      /^space for no more agents \(69.6 kB free, and living agents may yet need more than that; 3 rings/,
    );
  });
});

describe.skipIf(!MAY_MOUNT)('serve on a tmpfs that becomes full (skipped where tests may not mount)', () => {
  it('says so, as list, doctor and top do; keeps no state, and keeps it again once there is space', async () => {
    const directory = smallTmpfs('4m');
    startTransferSource(['--dir', directory, '--agents', '2', '--rate', '100', '--seconds', '0']);
    await until(() => freeBytes(directory) === 4 * MIB - 2 * RING);
    const other = fillUp(directory, 2 * RING);
    const serve = start(['serve', '--dir', directory, '--port', '0']);
    const [url] = await serve.says(/http:\S+metrics/);
    await serve.says(/has space for 2 more agents \(.*the kernel ends an agent whose ring finds no space/);
    await serve.says(/state file of ring .*: the file system has 139 kB free, of which agents may need/);
    const readyz = async () => (await (await fetch(new URL('/readyz', url))).text()).trimEnd();
    const text = await readyz();
    expect(text).toContain(
      `warning: "${directory}" is no_space: space for 2 more agents (139 kB free; 2 rings of living`,
    );
    expect(text).toMatch(/warning: state file of ".*": the file system has 139 kB free/);
    const page = await scrape(url);
    expect(valueOf(page, 'nixl_collector_problems', 'state="no_space"')).toBe(1);
    expect(valueOf(page, 'nixl_collector_problems', 'state="no_state"')).toBe(2);
    expect(valueOf(page, 'nixl_collector_space_agents', `ring_directory="${directory}"`)).toBe(2);
    expect(valueOf(page, 'nixl_collector_space', 'use="free"')).toBe(2 * RING);
    const answer = await fetch(new URL('/api/v1/agents', url));
    expect(JSON.stringify(await answer.json())).toContain('no_space');
    const says = 'space for 2 more agents (139 kB free; 2 rings of a visible process: 139 kB;';
    expect((await run(['list', '--dir', directory])).stderr).toContain(`${directory} has ${says}`);
    const doctor = await run(['doctor', '--dir', directory, '--json']);
    expect(doctor.stdout).toMatch(/"finding":"directory-nearly-full".*it has space for 2 more agents/);
    const top = await run(['top', '--dir', directory, '--once']);
    expect(top.stdout + top.stderr).toContain(`${directory} has ${says}`);
    expect(freeBytes(directory)).toBe(2 * RING);
    expect(existsSync(path.join(directory, '.nixl-otel'))).toBe(false);

    rmSync(other);
    await until(async () => (await readyz()) === 'ready, 2 agents');
    // Beside these: the folder .serve, once serve keeps its charts.
    expect(readdirSync(path.join(directory, '.nixl-otel'))).toEqual(expect.arrayContaining(['agent-0', 'agent-1']));
  });
});

/**
 * A real vLLM with real NIXL agents: prefill and decode instances, the calls of a proxy, and serve beside them. Numbers are compared
 * with vLLM's own; what is said of the agents is what an operator reads.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory, until } from '../cli/command.js';
import { EngineServe } from './engine-serve.js';
import { MODEL, VllmInstance } from './instance.js';
import { writeModel } from './model.js';
import {
  difference,
  EQUAL,
  failedByNixl,
  failedByVllm,
  meanUs,
  type Moved,
  movedByAgents,
  movedByVllm,
} from './numbers.js';
import { provideVllm } from './provide.js';
import { askOften, decoded, prefilled, underLoad } from './proxy.js';
import { sharedMemoryRemover } from './shared-memory.js';

const programs = await provideVllm();

const begunMs = performance.now();
/** Prints what a run reports. */
function report(what: string, ...facts: unknown[]): void {
  const seconds = ((performance.now() - begunMs) / 1000).toFixed(0);
  console.log(
    `+${seconds} s ${what}`,
    ...facts.map((fact) => (typeof fact === 'string' ? fact : JSON.stringify(fact))),
  );
}

describe.skipIf(programs === undefined)('vLLM', () => {
  it('is counted to the unit and named, and raises no false alarm', async () => {
    const directory = mkdtempSync('/dev/shm/nixl-otel-vllm-');
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    onTestFinished(sharedMemoryRemover());
    const common = { programs: programs!, model: writeModel(path.join(temporaryDirectory(), MODEL)), directory };
    const serve = await EngineServe.start(directory);

    /** Alarms about agents: that serve itself had no turn is one about the machine. */
    const alarms = async () =>
      (await serve.incidents()).filter(({ level, agentCount }) => level === 'alarm' && agentCount > 0);
    const live = async (names: readonly string[], life: string) => {
      const agents = await serve.agents();
      return names.every((name) => agents.get(name)?.life === life);
    };
    /** Waits for living agents with these names for people, which the list has as well. */
    const areNamed = async (...names: string[]) => {
      await until(() => live(names, 'alive'));
      const list = await serve.list();
      report('list', `\n${list}`);
      for (const name of names) expect(list).toContain(` ${name} `);
    };
    /** Waits until vLLM has published its last step. @returns what moved */
    const agree = async (...instances: VllmInstance[]): Promise<Moved> => {
      const ports = instances.map(({ port }) => `:${port}`);
      const ours = async () => movedByAgents(await serve.page(), ports);
      const theirs = async () => movedByVllm(...(await Promise.all(instances.map((one) => one.metrics()))));
      const off = async () => difference(await theirs(), await ours());
      await expect.poll(off, { timeout: 600_000, interval: 100 }).toEqual(EQUAL);
      const moved = await ours();
      report('vLLM and the rings agree:', moved);
      return moved;
    };
    /** Lets doctor compare the page of an instance with its rings. @returns what it finds of failures */
    const doctorAgrees = async ({ url }: VllmInstance) => {
      const found = await serve.beside(url);
      report(`doctor --engine ${url}`, ...found.map(({ status, subject, what }) => `\n${status} ${subject}: ${what}`));
      expect(found.map(({ finding }) => finding).slice(0, 5)).toEqual([
        'engine',
        ...Array<string>(4).fill('engine-equal'),
      ]);
      // On a busy machine KV caches may expire.
      return found.slice(5).filter(({ what }) => what.includes('failed'));
    };
    /** Agents that ended, and the words about them. */
    const haveEnded = async (...ended: string[]) => {
      await until(() => live(ended, 'dead'));
      const findings = await serve.findings();
      report('findings', ...findings.map(({ word, sentence }) => `\n${word}: ${sentence}`));
      // A finding of several names the first ones.
      const agents = await serve.agents();
      for (const name of ended) {
        const { id } = agents.get(name)!;
        expect(findings.filter((one) => one.kind === 'ended' && one.agents.includes(id))).toHaveLength(1);
      }
      return findings.map(({ sentence }) => sentence).join('\n');
    };

    const [prefill, decode] = (await Promise.all(
      (['kv_producer', 'kv_consumer'] as const).map((role) => VllmInstance.start({ ...common, role })),
    )) as [VllmInstance, VllmInstance];
    await Promise.all([prefill.answers(), decode.answers()]);
    report('both instances answer');
    const prefillName = `vllm :${prefill.port} prefill`;
    const decodeName = `vllm :${decode.port} decode`;
    await areNamed(prefillName, decodeName);
    const infos = await serve.infos();
    for (const [instance, role] of [
      [prefill, 'prefill'],
      [decode, 'decode'],
    ] as const) {
      const display = `vllm :${instance.port} ${role}`;
      expect(infos.find((labels) => labels['display_name'] === display)).toMatchObject({
        ...{ engine: 'vllm', part: 'connector', engine_instance: `:${instance.port}`, model: MODEL, role },
      });
    }
    report('nixl_agent_info', infos);

    // 20 requests move 20 KV caches; prefill, the passive side, counts none.
    await askOften({ prefill, decode }, 20);
    expect((await agree(prefill, decode)).transfers).toBe(20);
    expect(failedByVllm(await decode.metrics())).toBe(0);
    for (const one of [prefill, decode]) expect(await doctorAgrees(one)).toEqual([]);
    const agents = await serve.agents();
    expect(agents.get(prefillName)).toMatchObject({ rxRequests: 0, txRequests: 0, life: 'alive' });
    expect(agents.get(prefillName)!.memoryBytes).toBeGreaterThan(0);
    expect(agents.get(decodeName)).toMatchObject({ rxRequests: 20, txRequests: 0, life: 'alive' });
    const found = await serve.diagnosis([prefill.pid, decode.pid]);
    report('doctor', ...found.map(({ status, subject, what }) => `\n${status} ${subject}: ${what}`));
    expect(found.filter(({ status }) => status === 'problem')).toEqual([]);

    // Compute load alone makes transfers longer, and is no alarm.
    const before = await agree(prefill, decode);
    await underLoad(decode, 6, () => askOften({ prefill, decode }, 60, 2));
    const after = await agree(prefill, decode);
    report(`mean time ${meanUs(before)} us, under load ${meanUs(difference(after, before))} us`);
    expect(await alarms()).toEqual([]);

    // A clean stop looks like any end of an agent: vLLM leaves its memory registered.
    await decode.stop();
    expect(await haveEnded(decodeName)).toContain(`${decodeName} ended`);
    expect(await alarms()).toEqual([]);

    // Two ranks of one instance.
    const pooled = await (await VllmInstance.start({ ...common, role: 'kv_consumer', workers: 2 })).answers();
    report('the instance with two ranks answers');
    const ranks = [0, 1].map((rank) => `vllm :${pooled.port} decode TP${rank}`);
    await areNamed(prefillName, ...ranks);
    await askOften({ prefill, decode: pooled }, 20);
    // Both ranks read their half of each KV cache: vLLM adds them up.
    expect((await agree(prefill, pooled)).transfers).toBe(40);
    expect(await doctorAgrees(pooled)).toEqual([]);
    const halves = await serve.agents();
    for (const rank of ranks) expect(halves.get(rank)).toMatchObject({ rxRequests: 20 });

    // The kill of an instance fails a request, which no ring shows.
    const kept = await prefilled(prefill, 300);
    await prefill.kill();
    expect(await haveEnded(prefillName)).toContain(prefillName);
    await expect(decoded(pooled, kept)).rejects.toThrow(/ 500 /);
    expect(failedByVllm(await pooled.metrics())).toBeGreaterThan(0);
    expect(failedByNixl(await serve.page())).toBe(0);
    expect(await doctorAgrees(pooled)).toMatchObject([{ finding: 'engine-failures' }]);
    await pooled.stop();
    await haveEnded(...ranks);
    expect(await serve.end()).toBe(0);
    report('serve', serve.log);
  });
});

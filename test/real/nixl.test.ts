/** serve counts exactly what a program asks of real NIXL agents of several releases, from their published wheels. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type RunningCommand, scrape, start, temporaryDirectory, until } from '../cli/command.js';
import { nameAndVersion, rowsOf } from '../compatibility/page.js';
import { freePort } from '../support/free-port.js';
import { allDrained } from '../support/live.js';
import { type SizesAnswer, SIZES_PATH } from '../../src/view/answers/sizes-answer.js';
import { NixlAgents, type Sums } from './nixl-agents.js';
import { provideNixl } from './tools.js';

/** Releases in docs/compatibility.md, and the wire versions of their rings. */
const RELEASES = rowsOf('NIXL', 'npm run test:real').map(
  (row) => [nameAndVersion(row['NIXL']!).version, Number(row['Wire version'])] as const,
);
const PATIENTLY = { timeout: 120_000, interval: 50 };

const packages = await provideNixl();

const SERIES = /^(agent_\w+)\{hostname="[^"]*",agent_name="([^"]*)"(?:,status="(\w+)")?\} (\S+)$/gm;
/** Sums that the program does not know. */
const TIMES = ['agent_xfer_time_total', 'agent_xfer_post_time_total'];

/** Returns the counters of a page, the numbers of durations, and the counts of each class of sizes. */
async function countedBy(page: string): Promise<Sums> {
  const sums = await classesOf(page);
  for (const [, name, agent, status, value] of (await scrape(page)).matchAll(SERIES)) {
    if (!/_total$|_us_count$/.test(name!) || TIMES.includes(name!) || Number(value) === 0) continue;
    sums[[agent, name, ...(status === undefined ? [] : [status])].join(' ')] = Number(value);
  }
  return sums;
}

async function classesOf(page: string): Promise<Sums> {
  const { agents } = JSON.parse(await scrape(String(new URL(`/${SIZES_PATH}`, page)))) as SizesAnswer;
  const entries = agents.flatMap(({ name, tx, rx }) =>
    Object.entries({ tx, rx }).flatMap(([direction, { classes }]) =>
      classes.flatMap(({ upToBytes, transfers, bytes }) => {
        const sized = `${name} ${direction} up to ${upToBytes}`;
        return [
          [`${sized}: transfers`, transfers],
          [`${sized}: bytes`, bytes],
        ];
      }),
    ),
  );
  return Object.fromEntries(entries) as Sums;
}

function added(one: Sums, other: Sums): Sums {
  const sums = { ...one };
  for (const [series, value] of Object.entries(other)) sums[series] = (sums[series] ?? 0) + value;
  return sums;
}

const transfersIn = (sums: Sums): number =>
  (sums['prefill agent_xfer_time_us_count'] ?? 0) + (sums['decode agent_xfer_time_us_count'] ?? 0);

const sizedTransfersIn = (sums: Sums): number =>
  Object.entries(sums).reduce((all, [series, count]) => (series.endsWith(': transfers') ? all + count : all), 0);

describe.skipIf(packages === undefined)('real agents', () => {
  it.each(RELEASES)('of NIXL %s, wire version %i: exact over restarts and kills', async (release, wireVersion) => {
    const directory = temporaryDirectory();
    const port = await freePort();
    const page = `http://127.0.0.1:${port}/metrics`;
    const startServe = async (): Promise<RunningCommand> => {
      const serve = start(['serve', '--dir', directory, '--port', String(port)]);
      await serve.says(/serves http/);
      return serve;
    };
    const progress = path.join(temporaryDirectory(), 'progress');
    const startAgents = () => NixlAgents.start({ packages: packages!.get(release)!, directory, progress });
    const counts = (sums: Sums) => expect.poll(() => countedBy(page), PATIENTLY).toEqual(sums);

    let serve = await startServe();
    let agents = await startAgents();
    agents.say('work 100');
    await counts(await agents.answer());
    const { agents: found } = JSON.parse(await scrape(`http://127.0.0.1:${port}/api/v1/agents`)) as {
      agents: { wireVersion: number }[];
    };
    expect(found.map((agent) => agent.wireVersion)).toEqual([wireVersion, wireVersion]);

    // serve is killed while the agents are at work, also where it starts slowly.
    agents.say('work 2000');
    for (let kill = 1; kill <= 2; kill++) {
      const before = transfersIn(await countedBy(page));
      await until(async () => transfersIn(await countedBy(page)) > before + 50);
      await serve.stop('SIGKILL');
      serve = await startServe();
    }
    await counts(await agents.answer());

    // The agents end, and come back under their names.
    agents.say('finish');
    const firstLife = await agents.answer();
    await counts(firstLife);
    expect(await agents.end()).toBe(0);
    agents = await startAgents();
    agents.say('work 100');
    await counts(added(firstLife, await agents.answer()));

    // The agents are killed at work: NIXL loses what they had not flushed, and no more.
    agents.say('work 1000000');
    const transfersBefore = transfersIn(firstLife);
    await until(() => agents.finished > 300);
    const flushed = agents.finished;
    await until(async () => transfersIn(await countedBy(page)) >= transfersBefore + flushed);
    expect(await agents.end('SIGKILL')).toBe('SIGKILL');
    await allDrained(directory);
    const beforeKill = transfersIn(await countedBy(page)) - transfersBefore;
    expect(beforeKill).toBeGreaterThanOrEqual(flushed);
    expect(beforeKill).toBeLessThanOrEqual(agents.finished + 1);
    const killed = await until(async () => {
      const sums = await countedBy(page);
      return sizedTransfersIn(sums) === transfersIn(sums) && sums; // classes lag by half a second
    });
    agents = await startAgents();
    agents.say('work 100');
    agents.say('finish');
    await agents.answer();
    await counts(added(killed, await agents.answer()));
    expect(await agents.end()).toBe(0);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  });
});

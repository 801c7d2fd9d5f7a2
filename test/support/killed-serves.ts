/** serve is killed with -9 again and again under load: at the end its numbers are those of the agents, to the unit. */
import path from 'node:path';
import { expect } from 'vitest';
import { type RunningCommand, startTransferSource, temporaryDirectory, until } from '../cli/command.js';
import { inspectRing } from '../../src/shm-bridge/index.js';
import { CountersThatOnlyGrow, Reports } from './agents-reports.js';
import { WatchedServe } from './watched-serve.js';

/** Reproducible numbers from 0 to below `limit`. */
function randomNumbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => (state = (state * 48271) % 2147483647) % limit;
}

/** Agents of all habits, at work until finish(). Each waits for room and for an empty ring, so that nothing is lost. */
class Fleet {
  readonly directory = temporaryDirectory();
  readonly reports = new Reports();
  readonly #steady: RunningCommand[];
  readonly #lives: Promise<void>;
  #isEnding = false;

  constructor() {
    this.#steady = [
      this.#agents('steady', '--agents', '2', '--seconds', '0', '--buffer-size', '65536', '--errors', '10'),
      this.#agents(
        'again',
        '--agents',
        '2',
        '--seconds',
        '0',
        '--restart-every',
        '200',
        '--wire-version',
        '3',
        '--restart-sizes',
        '16384,4096,16384',
      ),
    ];
    this.#lives = this.#liveAgainAndAgain();
    this.#lives.catch(() => {}); // finish() throws it
  }

  /** Ends all agents. Their rings may still have events. */
  async finish(): Promise<void> {
    this.#isEnding = true;
    for (const agents of this.#steady) await this.#reported(agents, agents.stop('SIGTERM'));
    await this.#lives;
  }

  #agents(name: string, ...flags: string[]): RunningCommand {
    const load = ['--rate', '250', '--sizes', '4k', '--flush-interval', '50', '--wait-for-room'];
    return startTransferSource(['--dir', this.directory, '--name', name, ...load, ...flags]);
  }

  async #reported(agents: RunningCommand, ended = agents.ended): Promise<void> {
    const { code, stdout, stderr } = await ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    this.reports.add(stdout);
  }

  /** One agent comes back under its name, in another wire version and with another size, and one comes under a new name. */
  async #liveAgainAndAgain(): Promise<void> {
    for (let life = 0; !this.#isEnding; life++) {
      const flags = ['--exact-name', '--transfers', '60', '--wire-version', String(1 + (life % 5))];
      const size = String(1024 << (life % 3));
      await Promise.all([
        this.#reported(this.#agents('back', ...flags, '--buffer-size', size)),
        life % 4 === 0 && this.#reported(this.#agents(`fresh-${life}`, ...flags, '--buffer-size', size)),
      ]);
      // A restart wipes events that no consumer has taken.
      await until(() => inspectRing(path.join(this.directory, 'back')).pending === 0);
    }
  }
}

async function expectExact(fleet: Fleet, serve: WatchedServe): Promise<void> {
  await fleet.finish();
  expect(fleet.reports.lost).toBe(0);
  const { written } = fleet.reports;
  expect(Object.keys(written).length).toBeGreaterThan(50);
  await expect.poll(() => serve.shown(), { timeout: 120_000 }).toEqual(written);
  expect(await serve.page()).not.toMatch(/^nixl_ring_(suspect|foreign_moves_total)\{.*\} [^0]/m);
  await serve.end();
}

/** Kills one serve after another, at any time of its start or of its work. */
export async function killedInWork(kills: number): Promise<void> {
  const seed = process.pid;
  console.log(`seed ${seed}`);
  const random = randomNumbers(seed);
  const fleet = new Fleet();
  const grows = new CountersThatOnlyGrow();
  for (let kill = 0; kill < kills; kill++) {
    const serve = new WatchedServe(fleet.directory, grows);
    const deadAtMs = performance.now() + random(500);
    if (kill % 4 === 3) await until(() => performance.now() >= deadAtMs);
    else await (await serve.answers()).counts(random(500));
    await serve.kill();
  }
  await expectExact(fleet, await new WatchedServe(fleet.directory, grows).answers());
}

/** Kills the one that drains while another waits for its rings. */
export async function killedInTurns(turns: number): Promise<void> {
  const random = randomNumbers(turns);
  const fleet = new Fleet();
  const grows = new CountersThatOnlyGrow();
  let drains = await new WatchedServe(fleet.directory, grows).answers();
  for (let turn = 0; turn < turns; turn++) {
    const waits = await new WatchedServe(fleet.directory, new CountersThatOnlyGrow()).answers();
    await drains.counts(random(300));
    await drains.kill();
    drains = waits;
  }
  await expectExact(fleet, drains);
}

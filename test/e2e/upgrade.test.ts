/** Upgrades of serve: a new process waits for the rings or for the port of the old one, and takes over without a gap. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { type RunningCommand, scrape, start, temporaryDirectory, until, valueOf } from '../cli/command.js';
import { CountersThatOnlyGrow } from '../support/agents-reports.js';
import { freePort } from '../support/free-port.js';
import { allDrained } from '../support/live.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';
import { pushAll } from '../support/rings.js';
import { WatchedServe } from '../support/watched-serve.js';

/** The largest flush that each ring holds. */
const FLUSH = 255;
const AGENTS = 20;

class Agents {
  readonly directory = temporaryDirectory();
  readonly #rings = Array.from(
    { length: AGENTS },
    (_, i) => new RingWriter(path.join(this.directory, `agent-${i}`), { wireVersion: 4, capacity: FLUSH + 1 }),
  );

  /** Fills each ring. No event is refused: the flush before must have been drained. */
  flush(): void {
    const events = Array.from({ length: FLUSH }, () => ({ type: 0, value: 1n }));
    for (const ring of this.#rings) pushAll(ring, events);
  }
}

const get = async (url: string, where: string): Promise<{ status: number; text: string }> => {
  const answer = await fetch(new URL(where, url));
  return { status: answer.status, text: await answer.text() };
};
const eventsOf = async (url: string): Promise<number> => valueOf(await scrape(url), 'nixl_events_total');
/** Waits until this serve has drained so many events of the agents. */
const counts = (url: string, events: number): Promise<unknown> => until(async () => (await eventsOf(url)) >= events);
const portOf = (url: string): string => new URL(url).port;
const serving = async (command: RunningCommand): Promise<string> => (await command.says(/serves (http:\S+)/))[1]!;

/** The second serve has taken over all rings: it drains each event that they hold. */
async function drainsAll(agents: Agents, url: string): Promise<void> {
  agents.flush();
  await allDrained(agents.directory);
  await counts(url, AGENTS * FLUSH);
  const before = await eventsOf(url);
  agents.flush();
  await counts(url, before + AGENTS * FLUSH);
  expect(await eventsOf(url)).toBe(before + AGENTS * FLUSH);
}

describe.each(['SIGTERM', 'SIGKILL'] as const)('after %s of the old serve', (signal) => {
  test('a serve on another port, which is ready and exports no agent, takes over its rings', async () => {
    const agents = new Agents();
    const first = start(['serve', '--dir', agents.directory, '--port', '0']);
    const old = await serving(first);
    agents.flush();
    await counts(old, AGENTS * FLUSH);

    const second = start(['serve', '--dir', agents.directory, '--port', '0']);
    const url = await serving(second);
    const busy = async (): Promise<number> => valueOf(await scrape(url), 'nixl_collector_problems', 'state="busy"');
    await until(async () => (await busy()) === AGENTS);
    // An orchestrator ends the old one only when this one is ready.
    const { status, text } = await get(url, '/readyz');
    expect(status).toBe(200);
    expect(text).toMatch(/^waits: \d+ files, the first ".*\/agent-\d+", are busy: another consumer holds its lock$/m);
    expect(await scrape(url)).not.toContain('agent_name=');

    await first.stop(signal);
    await drainsAll(agents, url);
    expect(await busy()).toBe(0);
  });

  test('a standby takes over its port and its rings', async () => {
    const agents = new Agents();
    const port = String(await freePort());
    const first = start(['serve', '--dir', agents.directory, '--port', port]);
    agents.flush();
    await counts(await serving(first), AGENTS * FLUSH);

    const otlp = await startOtlpReceiver();
    const push = ['--exporter', 'prometheus,otlp', '--otlp-endpoint', otlp.url, '--export-interval', '50'];
    const second = start(['serve', '--dir', agents.directory, '--port', port, '--standby', 'on', ...push]);
    await second.says(new RegExp(`stands by until port ${port} of 127.0.0.1 is free`));
    agents.flush();
    await counts(`http://127.0.0.1:${port}/metrics`, 2 * AGENTS * FLUSH);
    expect(otlp.points()).toEqual([]);

    await first.stop(signal);
    const url = await serving(second);
    expect(portOf(url)).toBe(port);
    await drainsAll(agents, url);
    await until(() => otlp.points().length > 0);
  });
});

test('a standby serves at once if the port is free, and reports both states to systemd', async () => {
  const folder = temporaryDirectory();
  const reports = path.join(folder, 'reports');
  const program = path.join(folder, 'systemd-notify');
  writeFileSync(program, `#!/bin/sh\nfor each; do echo "$each" >> ${reports}; done\n`);
  chmodSync(program, 0o755);
  const env = { NOTIFY_SOCKET: '/run/unused', PATH: `${folder}:${process.env['PATH']}` };
  const reported = (line: string) =>
    until(() => {
      try {
        return new RegExp(`^--ready\n--status=.*${line}`, 'm').test(readFileSync(reports, 'utf8'));
      } catch {
        return false; // not yet there
      }
    });
  const serve = (port: string) => start(['serve', '--dir', folder, '--port', port, '--standby', 'on'], env);
  const port = String(await freePort());
  const first = serve(port);
  const url = await serving(first);
  await reported(`serves ${url}`);
  const second = serve(port);
  await reported(`stands by until port ${port} of 127.0.0.1 is free`);
  expect(await second.stop('SIGTERM')).toMatchObject({ signal: 'SIGTERM' });
  expect(await first.stop('SIGTERM')).toMatchObject({ code: 0 });
});

test('agents whose rings hold less than two flushes lose nothing at upgrades', async () => {
  const agents = new Agents();
  const grows = new CountersThatOnlyGrow();
  let written = 0;
  const counted = async (serve: WatchedServe): Promise<void> => {
    await until(async () => (await serve.events()) >= written);
    expect(await serve.events()).toBe(written);
  };
  const flush = (): void => {
    agents.flush();
    written += AGENTS * FLUSH;
  };
  let serve = await new WatchedServe(agents.directory, grows).answers();
  for (let upgrade = 0; upgrade < 3; upgrade++) {
    flush();
    await counted(serve);
    const next = await new WatchedServe(agents.directory, grows).answers();
    await until(async () => valueOf(await next.page(), 'nixl_collector_problems', 'state="busy"') === AGENTS);
    flush();
    await counted(serve);
    await serve.end();
    serve = next;
    flush(); // before, while or after it takes over
    await counted(serve);
  }
  await serve.end();
});

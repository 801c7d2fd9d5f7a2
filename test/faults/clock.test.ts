/** The wall clock of a process jumps forwards and backwards: serve depends on the monotonic clock only. */
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { scrape, start, startTransferSource, temporaryDirectory, until, valueOf } from '../cli/command.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';
import { preloadable } from '../support/preload.js';

const DAY_S = 86_400;

/** Returns the environment of a process, and a function that sets its wall clock to this distance from the true time. */
function wallClock(): { env: NodeJS.ProcessEnv; jump: (seconds: number) => void } {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'offset');
  writeFileSync(file, Buffer.alloc(8));
  const fd = openSync(file, 'r+');
  const jump = (seconds: number) => void writeSync(fd, new BigInt64Array([BigInt(seconds)]), 0, 8, 0);
  onTestFinished(() => closeSync(fd));
  return { env: { LD_PRELOAD: preloadable('wall-clock.c'), WALL_CLOCK_FILE: file }, jump };
}

test('serve counts, pushes and reports lives while its wall clock jumps by years', async () => {
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 1024 });
  const otlp = await startOtlpReceiver();
  const clock = wallClock();
  const push = ['--otlp-protocol', 'http/json', '--otlp-endpoint', otlp.url, '--export-interval', '100'];
  const flags = ['--exporter', 'prometheus,otlp', ...push, '--port', '0', '--dead-ttl', '100', '--log-format', 'json'];
  clock.jump(-3650 * DAY_S);
  const serve = start(['serve', '--dir', directory, ...flags], clock.env);
  const [url] = await serve.says(/http:[^\s"]+metrics/);
  const [, year] = /"time":"(\d{4})/.exec(serve.stderr)!;
  expect(Number(year)).toBeLessThan(new Date().getFullYear() - 8); // the process has the wrong time
  let expected = 0;
  for (const [i, days] of [1, -1, 3650, -3650].entries()) {
    clock.jump(days * DAY_S);
    for (let n = 0; n < 10; n++) expect(writer.push({ type: 0, value: 3n })).toBe(true);
    expected += 30;
    const page = await until(async () => {
      const text = await scrape(url);
      return valueOf(text, 'agent_tx_bytes_total', 'agent_name="agent"') === expected && text;
    });
    expect(valueOf(page, 'nixl_agent_up', 'agent_name="agent"')).toBe(1);
    expect(valueOf(page, 'nixl_agent_idle', 'agent_name="agent"')).toBeLessThan(60);
    await until(() =>
      otlp.points().some(({ metric, value, attributes }) => {
        return metric === 'agent_tx_bytes_total' && attributes['agent_name'] === 'agent' && value === expected;
      }),
    );
    // serve finds an agent that starts now, and sees its end.
    const name = `short-${i}`;
    const agent = startTransferSource(['--dir', directory, '--name', name, '--exact-name', '--seconds', '0']);
    // An agent that ends before its process was seen would keep an unknown life.
    await until(async () => valueOf(await scrape(url), 'nixl_collector_agents', 'life="alive"') === 2);
    expect(valueOf(await scrape(url), 'nixl_agent_up', `agent_name="${name}"`)).toBe(1);
    await agent.stop('SIGKILL');
    await until(async () => !(await scrape(url)).includes(`agent_name="${name}"`));
  }
  const { code, stderr } = await serve.stop();
  expect(code).toBe(0);
  // On a busy machine a push may take longer than the interval. This does not depend on the clock.
  const complaints = stderr.split('\n').filter((line) => /"level":"(error|warning)"/.test(line));
  expect(complaints.filter((line) => !/exporter otlp|metrics export timed out/.test(line))).toEqual([]);
});

import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { RunningCommand } from './command.js';
import { run, scrape, start, until, valueOf } from './command.js';

async function startDemo(
  environment: NodeJS.ProcessEnv = {},
): Promise<{ demo: RunningCommand; url: string; directory: string }> {
  const demo = start(['demo', '--port', '0', '--interval', '100'], environment);
  const [, directory] = await demo.says(/their rings are in (\S+)/);
  const [, url] = await demo.says(/Metrics: (\S+)/);
  return { demo, url: url!, directory: directory! };
}

describe('nixl-otel demo', () => {
  it('moves memory, serves it, prints rates, and leaves nothing behind', async () => {
    const { demo, url, directory } = await startDemo();
    await until(async () => {
      const text = await scrape(url);
      const [sent, received] = ['tx', 'rx'].map((way) => valueOf(text, `agent_${way}_bytes_total`));
      return (
        sent! > 0 && received! > 0 && ['agent-0', 'agent-1'].every((name) => text.includes(`agent_name="${name}"`))
      );
    });
    await demo.says(/2 agents · tx [\d.,]+ [kMG]B\/s · rx [\d.,]+ [kMG]B\/s · [\d,]+ req\/s · 0 errors\/s · 0 lost\n/);
    const children = childrenOf(demo.child.pid!);
    expect(children).not.toEqual([]);

    const { code, stdout, stderr } = await demo.stop('SIGINT');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [, written, counted] = /written by the agents: ([\d,]+), counted: ([\d,]+)/.exec(stdout)!;
    expect(counted).toBe(written);
    expect(existsSync(directory)).toBe(false);
    for (const pid of children) expect(existsSync(`/proc/${pid}`)).toBe(false);
  });

  it('moves sizes a factor of 16 apart in both directions of both agents', async () => {
    const { demo, url } = await startDemo();
    const upTo = (page: string, labels: string): number[] =>
      [4096, 65_536, 1_048_576, 16_777_216].map((bytes) =>
        valueOf(page, 'nixl_transfer_size_bucket', `${labels},le="${bytes}"`),
      );
    await until(async () => {
      const page = await scrape(url);
      return ['agent-0', 'agent-1'].every((agent) =>
        ['transmit', 'receive'].every((direction) => {
          const counts = upTo(page, `agent_name="${agent}",direction="${direction}"`);
          return counts.every((count, i) => count > (counts[i - 1] ?? 0));
        }),
      );
    });
    expect((await demo.stop()).code).toBe(0);
  });

  it('is the same in every environment', async () => {
    const { demo, url } = await startDemo({
      NIXL_OTEL_CONFIG: '/no/such.yaml',
      NIXL_TELEMETRY_ENABLED_METRICS: 'agent_err_*',
      NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US: '7',
    });
    const page = await until(async () => {
      const text = await scrape(url);
      return valueOf(text, 'agent_xfer_time_us_bucket', 'le="25"') > 0 && text;
    });
    expect(page).not.toContain('le="7"');
    expect(await demo.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' });
  });

  it('stops without an error when the reader of its output ends', async () => {
    const { demo, directory } = await startDemo();
    demo.child.stdout!.destroy();
    expect(await demo.ended).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(directory)).toBe(false);
  });

  it('reports that its agents have ended, and cleans up', async () => {
    const { demo, directory } = await startDemo();
    for (const pid of childrenOf(demo.child.pid!)) process.kill(Number(pid), 'SIGKILL');
    const { code, stderr } = await demo.ended;
    expect(stderr).toContain('transfer-source ended');
    expect(code).toBe(1);
    expect(existsSync(directory)).toBe(false);
  });

  it('ends its agents when it is killed', async () => {
    const { demo } = await startDemo();
    const children = childrenOf(demo.child.pid!);
    expect(children).not.toEqual([]);
    await demo.stop('SIGKILL');
    await until(() => Promise.resolve(children.every((pid) => !existsSync(`/proc/${pid}`))));
  });

  it('reports in one line that no temporary directory can be created', async () => {
    expect(await run(['demo', '--port', '0'], { TMPDIR: '/no/such' })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^nixl-otel: error: no temporary directory can be created: ENOENT: .*\n$/,
      ) as string,
    });
  });

  it('names the taken port before it starts an agent', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    const { code, stdout, stderr } = await run(['demo', '--port', String(port)]);
    taken.close();
    expect(stderr).toContain(`127.0.0.1 port ${port}: the port is taken`);
    expect(stderr).toContain('--port');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });
});

function childrenOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
}

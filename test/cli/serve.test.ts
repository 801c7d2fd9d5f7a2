import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { familiesIn, textOf } from '../support/prometheus-families.js';
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
} from './command.js';

async function urlOf(serve: RunningCommand): Promise<string> {
  return (await serve.says(/serves (http:\S+) from/))[1]!;
}

interface Totals {
  totals: { written: number; refused: number; events: Record<string, { count: string; sum: string }> };
}

describe('nixl-otel serve', () => {
  it.each([
    ['nixl', 'agent_tx_bytes_total', ''],
    ['otel', 'nixl_transfer_io_total', 'transmit'],
  ])('serves exactly what an agent wrote, naming %s', async (naming, series, label) => {
    const dir = temporaryDirectory();
    const serve = start(['serve', '--dir', dir, '--port', '0', '--naming', naming]);
    const url = await urlOf(serve);
    const source = await startTransferSource(['--dir', dir, '--transfers', '200', '--rate', '1000']).ended;
    const { totals } = JSON.parse(source.stdout) as Totals;
    expect(totals.refused).toBe(0);
    const expected = Number(totals.events['agent_tx_bytes']!.sum);
    await until(async () => valueOf(await scrape(url), series, label) >= expected);
    expect(valueOf(await scrape(url), series, label)).toBe(expected);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0, stdout: '' });
  });

  it.each(['nixl', 'otel'])('shows that a ring was found full, naming %s', async (naming) => {
    const dir = temporaryDirectory();
    const writer = new RingWriter(path.join(dir, 'agent'), { wireVersion: 4, capacity: 16 });
    let accepted = 0;
    while (writer.push({ type: 0, value: 1n })) accepted++;
    const url = await urlOf(start(['serve', '--dir', dir, '--port', '0', '--naming', naming]));
    const page = async (): Promise<number[]> => {
      const text = await scrape(url);
      return ['nixl_events_total', 'nixl_ring_full_total'].map((name) => valueOf(text, name));
    };
    await expect.poll(page).toEqual([accepted, 1]);
    // A drain that finds room in the ring is not counted.
    writer.push({ type: 0, value: 1n });
    await expect.poll(page).toEqual([accepted + 1, 1]);
  });

  it('reads several directories, and one that appears later', async () => {
    const [first, parent] = [temporaryDirectory(), temporaryDirectory()];
    const later = path.join(parent, 'later');
    const serve = start(['serve', '--dir', first, '--dir', later, '--port', '0']);
    const url = await urlOf(serve);
    await serve.says(/directory \S*later is absent: it does not exist yet/);
    mkdirSync(later);
    startTransferSource(['--dir', first, '--name', 'one', '--exact-name', '--seconds', '0']);
    startTransferSource(['--dir', later, '--name', 'two', '--exact-name', '--seconds', '0']);
    for (const label of ['agent_name="one"', 'agent_name="two"']) {
      await until(async () => valueOf(await scrape(url), 'agent_tx_bytes_total', label) > 0);
    }
    expect(valueOf(await scrape(url), 'nixl_collector_problems')).toBe(0);
    const { code, stderr } = await serve.stop();
    expect(code).toBe(0);
    expect(stderr.match(/later/g)).toHaveLength(2); // in the list of directories, and in the line that it is absent
  });

  it('does not wait for a directory below a file, and reports its state', async () => {
    const file = path.join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const serve = start(['serve', '--dir', path.join(file, 'x'), '--port', '0']);
    await serve.says(/directory \S*\/file\/x is corrupt: not a directory/);
    await urlOf(serve);
    expect((await serve.stop()).stderr).not.toContain('not exist yet');
  });

  it('takes the directory from NIXL_TELEMETRY_DIR, and --dir before it', async () => {
    const [fromEnv, fromFlag] = [temporaryDirectory(), temporaryDirectory()];
    const env = { NIXL_TELEMETRY_DIR: fromEnv };
    const byEnv = start(['serve', '--port', '0'], env);
    await byEnv.says(new RegExp(`serves .* from ${fromEnv} `));
    const byFlag = start(['serve', '--port', '0', '--dir', fromFlag], env);
    await byFlag.says(new RegExp(`serves .* from ${fromFlag} `));
  });

  it('drops a dead agent after --dead-ttl', async () => {
    const dir = temporaryDirectory();
    const serve = start(['serve', '--dir', dir, '--port', '0', '--dead-ttl', '100']);
    const url = await urlOf(serve);
    const source = startTransferSource(['--dir', dir, '--seconds', '0']);
    // An agent without a visible process is never released: it may be alive.
    await until(async () => valueOf(await scrape(url), 'nixl_collector_agents', 'life="alive"') === 1);
    await source.stop('SIGTERM');
    await until(async () => !(await scrape(url)).includes('agent_tx_bytes_total{'));
  });

  it('answers HTTP requests', async () => {
    const serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0']);
    const url = await urlOf(serve);
    const page = await fetch(`${url}?any=query`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const info = /^target_info\{(.*)\} 1$/m.exec(await page.text())![1]!;
    expect(info.split(',')).toEqual(
      expect.arrayContaining([
        'service_name="nixl-otel"',
        expect.stringMatching(/^service_instance_id="[0-9a-f-]{36}"$/) as string,
      ]),
    );
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const post = await fetch(url, { method: 'POST', body: 'x' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const missing = await fetch(new URL('/metrix', url));
    expect([missing.status, await missing.text()]).toEqual([404, expect.stringContaining('/metrics')]);
    const index = await fetch(new URL('/', url));
    expect([index.status, await index.text()]).toEqual([200, expect.stringContaining('/metrics')]);
    expect((await serve.stop()).code).toBe(0);
  });

  it('uses OTEL_SERVICE_NAME in the resource', async () => {
    const serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0'], { OTEL_SERVICE_NAME: 'prefill' });
    expect(await scrape(await urlOf(serve))).toContain('target_info{service_name="prefill"');
  });

  it('joins the values of resource attributes that Prometheus spells alike, as text and as protobuf', async () => {
    const given = 'k8s.pod.name=b,service_version=own,k8s_pod_name=a,k8s/pod/name=c%22,9lives=yes';
    const serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0'], { OTEL_RESOURCE_ATTRIBUTES: given });
    const url = await urlOf(serve);
    const protobuf = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited';
    const bytes = await (await fetch(url, { headers: { accept: protobuf } })).arrayBuffer();
    const family = familiesIn(new Uint8Array(bytes)).find(({ name }) => name === 'target_info')!;
    for (const line of [/^target_info\{.*$/m.exec(await scrape(url))![0], textOf(family).at(-1)!]) {
      const labels = [...line.matchAll(/([a-z_0-9]+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]);
      expect(new Set(labels.map(([name]) => name)).size).toBe(labels.length);
      expect(Object.fromEntries(labels)).toMatchObject({
        k8s_pod_name: 'b;c\\";a', // in the order of their own names
        service_version: expect.stringMatching(/^\d.*;own$/) as string,
        service_name: 'nixl-otel',
        key_9lives: 'yes',
      });
    }
  });

  it('names the taken port and its flag, and drains no ring', async () => {
    const dir = temporaryDirectory();
    const flags = ['--dir', dir, '--transfers', '10', '--name', 'kept', '--exact-name'];
    const { totals } = JSON.parse((await startTransferSource(flags).ended).stdout) as Totals;
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    const { code, stderr } = await run(['serve', '--dir', dir, '--port', String(port)]);
    taken.close();
    expect(stderr).toContain(`127.0.0.1 port ${port}: the port is taken`);
    expect(stderr).toContain('--port');
    expect(code).toBe(1);

    const url = await urlOf(start(['serve', '--dir', dir, '--port', '0']));
    const expected = Number(totals.events['agent_rx_bytes']!.sum) + Number(totals.events['agent_tx_bytes']!.sum);
    const sum = (page: string) => valueOf(page, 'agent_rx_bytes_total') + valueOf(page, 'agent_tx_bytes_total');
    await until(async () => sum(await scrape(url)) === expected);
  });

  it('survives the end of its terminal under nohup', async () => {
    const args = ['serve', '--dir', temporaryDirectory(), '--port', '0'];
    const serve = new RunningCommand('nohup', [process.execPath, MAIN, ...args]);
    const url = await urlOf(serve);
    serve.child.kill('SIGHUP');
    // The signal is handled before the first answer, because both wait for the same event loop.
    await scrape(url);
    expect(await scrape(url)).toContain('nixl_collector_ticks');
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
  });

  it('counts two signals in quick succession as one: the terminal sends one, and npm forwards it', async () => {
    const serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0']);
    await urlOf(serve);
    serve.child.kill('SIGINT');
    expect(await serve.stop('SIGINT')).toMatchObject({ code: 0, signal: null });
  });

  it('ends at once on a second signal while it waits for a client', async () => {
    const serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0']);
    const { hostname, port } = new URL(await urlOf(serve));
    const client = connect(Number(port), hostname, () => client.write('GET /metrics HTTP/1.1\r\n'));
    client.on('error', () => {});
    await new Promise((resolve) => client.once('connect', resolve));
    const again = setInterval(() => serve.child.kill('SIGTERM'), 20);
    const { code } = await serve.ended;
    clearInterval(again);
    client.destroy();
    expect(code).toBe(128 + 15);
  });
});

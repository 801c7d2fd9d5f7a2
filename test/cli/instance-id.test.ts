/** service.instance.id: no two serves export under one id, and a serve that starts anew has the id of before. */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { uuidOf } from '../../src/serve/outputs/instance-id.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';
import { type RunningCommand, scrape, start, temporaryDirectory, until } from './command.js';

interface Started {
  readonly serve: RunningCommand;
  readonly id: () => Promise<string>;
}

async function startServe(
  directory: string,
  flags: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<Started> {
  const serve = start(['serve', '--dir', directory, '--port', '0', ...flags], env);
  const url = (await serve.says(/serves (http:\S+) from/))[1]!;
  const id = async (): Promise<string> => /service_instance_id="([^"]*)"/.exec(await scrape(url))![1]!;
  await id(); // the first export takes the id
  return { serve, id };
}

describe('service.instance.id', () => {
  it('is a UUID of version 5, made of a namespace and names', () => {
    expect(uuidOf(['host', '/dir'])).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(uuidOf(['host', '/dir'])).toBe(uuidOf(['host', '/dir']));
    expect(uuidOf(['host', '/dir'])).not.toBe(uuidOf(['host/', 'dir']));
  });

  it.each([
    ['SIGTERM', 'on'],
    ['SIGKILL', 'off'],
  ] as const)('is the same after a restart by %s, with --state %s', async (signal, state) => {
    const directory = temporaryDirectory();
    const first = await startServe(directory, ['--state', state]);
    const id = await first.id();
    await first.serve.stop(signal);
    const next = await startServe(directory, ['--state', state]);
    expect(await next.id()).toBe(id);
    expect(first.serve.stderr + next.serve.stderr).not.toContain('service.instance.id');
  });

  it('differs between directories, and not between names of one', async () => {
    const directory = temporaryDirectory();
    const link = path.join(directory, 'link');
    const [a, b] = ['a', 'b'].map((name) => path.join(directory, name));
    mkdirSync(a!);
    mkdirSync(b!);
    symlinkSync(a!, link);
    const one = await startServe(a!);
    const other = await startServe(b!);
    const both = await startServe(a!, ['--dir', b!]);
    const ids = [await one.id(), await other.id(), await both.id()];
    expect(new Set(ids).size).toBe(3);
    await one.serve.stop('SIGKILL');
    const aliases = await startServe(link, ['--dir', a!]);
    expect(await aliases.id()).toBe(ids[0]);
  });

  it('is of one process alone while another serve has the directory, and says so once', async () => {
    const directory = temporaryDirectory();
    const receiver = await startOtlpReceiver();
    const pushes = [
      '--exporter',
      'prometheus,otlp',
      '--export-interval',
      '100',
      '--otlp-endpoint',
      new URL(receiver.url).origin,
    ];
    const first = await startServe(directory, pushes);
    const second = await startServe(directory, pushes);
    const [id, random] = [await first.id(), await second.id()];
    expect(random).not.toBe(id);
    await until(() => receiver.instances().length >= 2);
    expect(new Set(receiver.instances())).toEqual(new Set([id, random]));
    expect(second.serve.stderr.match(/another process/g)).toHaveLength(1);
    expect(second.serve.stderr).toContain(
      `${directory} is locked by another process: reports as service.instance.id=${random}`,
    );
    await first.serve.stop('SIGTERM');
    await until(async () => (await second.id()) === id);
    await second.serve.says(new RegExp(`reports as service.instance.id=${id} from now on`));
    await second.serve.stop('SIGTERM');
    const third = await startServe(directory);
    expect(await third.id()).toBe(id);
  });

  it('waits for a directory that does not exist yet', async () => {
    const directory = path.join(temporaryDirectory(), 'rings');
    const { serve, id } = await startServe(directory);
    const before = await id();
    expect(await id()).toBe(before);
    mkdirSync(directory);
    await until(async () => (await id()) !== before);
    const stable = await id();
    await serve.stop('SIGTERM');
    rmSync(directory, { recursive: true });
    mkdirSync(directory);
    expect(await (await startServe(directory)).id()).toBe(stable);
  });

  it('is what OTEL_RESOURCE_ATTRIBUTES says', async () => {
    const directory = temporaryDirectory();
    const env = { OTEL_RESOURCE_ATTRIBUTES: 'service.instance.id=gpu-7' };
    const first = await startServe(directory, [], env);
    const second = await startServe(directory, [], env);
    expect([await first.id(), await second.id()]).toEqual(['gpu-7', 'gpu-7']);
    expect(second.serve.stderr).not.toContain('service.instance.id');
  });
});

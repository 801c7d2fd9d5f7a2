import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRing, RingWriter } from '../../src/shm-bridge/index.js';
import { dist, resultOf, runProgram } from '../support/child.js';
import { runTransferSource, temporaryDirectory } from '../support/live.js';

describe('a writer', () => {
  it('refuses a link under its name, and does not touch the target', () => {
    const directory = temporaryDirectory();
    const [target, link] = [join(directory, 'target'), join(directory, 'agent')];
    writeFileSync(target, 'something else');
    symlinkSync(target, link);
    expect(() => new RingWriter(link)).toThrow(
      expect.objectContaining({
        name: 'NixlTelemetryError',
        code: 'RING_WRITE_FAILED',
        path: link,
        message: `cannot open ${link}: it is a symbolic link, which is not followed`,
      }),
    );
    expect(readFileSync(target, 'utf8')).toBe('something else');
  });

  // The truncation happens in a separate process, which must survive it.
  it.each([
    ['to nothing', 0],
    ['inside its slots', 4096],
  ])('survives a truncation of its file %s, reports it, and a new writer reuses the file', (_, bytes) => {
    const path = join(temporaryDirectory(), 'agent');
    const bridge = JSON.stringify(new URL('../../dist/shm-bridge/index.js', import.meta.url).href);
    const script = `
      const { openRing, RingWriter } = await import(${bridge});
      const { truncateSync } = await import('node:fs');
      const [path, bytes] = [process.argv[1], Number(process.argv[2])];
      const options = { wireVersion: 4, capacity: 1024 };
      const said = [];
      const writer = new RingWriter(path, options);
      for (let value = 0; value < 500; value++) writer.push({ value });
      said.push(writer.problem ?? 'none', writer.pending);
      truncateSync(path, bytes);
      said.push(writer.push({ value: 1 }), writer.push({ value: 2 }), writer.pending, writer.problem);
      writer.close();
      const next = new RingWriter(path, options);
      said.push(next.push({ value: 3 }), next.pending, next.problem ?? 'none', Number(openRing(path).drain()[0].value));
      console.log(JSON.stringify(said));`;
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', script, path, String(bytes)], {
      encoding: 'utf8',
    });
    expect(child).toMatchObject({ signal: null, stderr: '' });
    const lost = `${path} was truncated: the ring is lost`;
    expect(JSON.parse(child.stdout)).toEqual(['none', 500, false, false, 0, lost, true, 1, 'none', 3]);
  });

  it('survives a truncation in a call of pending alone', () => {
    const path = join(temporaryDirectory(), 'agent');
    const bridge = JSON.stringify(new URL('../../dist/shm-bridge/index.js', import.meta.url).href);
    const script = `
      const { RingWriter } = await import(${bridge});
      const writer = new RingWriter(process.argv[1]);
      (await import('node:fs')).truncateSync(process.argv[1], 0);
      console.log(writer.pending, writer.problem !== undefined);`;
    const { signal, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script, path], {
      encoding: 'utf8',
    });
    expect({ signal, stdout }).toEqual({ signal: null, stdout: '0 true\n' });
  });
});

describe('a file of two writers', () => {
  it('is refused to the second, in the same process and in another one, and stays as it is', async () => {
    const path = join(temporaryDirectory(), 'agent');
    const first = new RingWriter(path);
    first.push({ name: 'hits', value: 1 });
    const before = readFileSync(path);
    const reason = 'another writer holds this ring. A ring has one writer; give each its own name or directory';
    const refused = { code: 'RING_IN_USE', path, message: `${path} is in use: ${reason}` };
    expect(() => new RingWriter(path, { wireVersion: 4, capacity: 16 })).toThrow(expect.objectContaining(refused));
    const elsewhere = await resultOf(
      `const { RingWriter } = await import(arg.module);
       try { new RingWriter(arg.path); }
       catch ({ code, path, message }) { console.log(JSON.stringify({ code, path, message })); }`,
      { path, module: dist('rings.js') },
    );
    expect(elsewhere).toEqual(refused);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(first.push({ name: 'hits', value: 1 })).toBe(true);
    expect(first.pending).toBe(2);
    first.close();
    new RingWriter(path).close();
  });

  it('is free after a kill of its writer', async () => {
    const path = join(temporaryDirectory(), 'agent');
    const killed = await runProgram(
      `const { RingWriter } = await import(arg.module);
       new RingWriter(arg.path);
       process.kill(process.pid, 'SIGKILL');`,
      { path, module: dist('rings.js') },
    );
    expect(killed).toEqual({ code: null, stdout: '', stderr: '' });
    new RingWriter(path).close();
  });

  // An agent of NIXL takes no lock. It starts under the name of the service, and rebuilds the ring.
  it('stops the writer into whose ring an agent writes, and counts what was written', async () => {
    const path = join(temporaryDirectory(), 'agent');
    const writer = new RingWriter(path, { wireVersion: 4, capacity: 64 });
    const reader = openRing(path);
    onTestFinished(() => reader.close());
    for (let value = 0; value < 40; value++) writer.push({ value });
    const counted = [reader.drain().length];
    const own = ['--dir', dirname(path), '--name', 'agent', '--exact-name'];
    const size = ['--buffer-size', '64', '--transfers', '2'];
    const { totals } = await runTransferSource([...own, ...size, '--unlocked']);
    counted.push(reader.drain().length);
    expect([1, 2, 3].map((value) => writer.push({ value }))).toEqual([false, false, false]);
    expect({ code: writer.problemCode, problem: writer.problem, pending: writer.pending }).toEqual({
      code: 'RING_OVERTAKEN',
      problem: `another program writes ${path}, so this writer has stopped: give each its own name or directory`,
      pending: 0,
    });
    counted.push(reader.drain().length);
    expect(counted).toEqual([40, totals.written, 0]);
    // The stopped writer holds no lock.
    await runTransferSource([...own, ...size]);
    writer.close();
  });
});

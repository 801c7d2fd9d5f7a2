import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { temporaryDirectory } from '../support/live.js';

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

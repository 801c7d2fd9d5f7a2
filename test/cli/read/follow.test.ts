/** `read --follow` when the ring is lost, returns or is replaced: one note each, and no event of a new ring is missed. */
import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../../src/shm-bridge/index.js';
import { type RunningCommand, start, temporaryDirectory, until } from '../command.js';

function write(file: string, values: readonly number[]): void {
  const writer = new RingWriter(file, { wireVersion: 4, capacity: 64 });
  for (const value of values) writer.push({ type: 0, value });
  writer.close();
}

function valuesOf({ stdout }: RunningCommand): number[] {
  const lines = stdout.slice(0, stdout.lastIndexOf('\n') + 1).split('\n');
  return lines.filter(Boolean).map((line) => (JSON.parse(line) as { value: number }).value);
}

async function shows(reading: RunningCommand, values: readonly number[]): Promise<void> {
  await until(() => Promise.resolve(valuesOf(reading).length >= values.length));
  expect(valuesOf(reading)).toEqual(values);
}

function times(text: string, part: string): number {
  return text.split(part).length - 1;
}

describe.each([[[]], [['--consume']]])('nixl-otel read --follow %j', (flags) => {
  function followed() {
    const file = path.join(temporaryDirectory(), 'agent');
    write(file, [1, 2, 3]);
    return { file, reading: start(['read', '--follow', '--format', 'json', ...flags, file]) };
  }

  it('shows the events of a new file of that name, from its first on', async () => {
    const { file, reading } = followed();
    await shows(reading, [1, 2, 3]);
    rmSync(file);
    write(file, [4, 5]);
    await shows(reading, [1, 2, 3, 4, 5]);
    rmSync(file);
    write(file, [6]);
    await shows(reading, [1, 2, 3, 4, 5, 6]);
    const { code, stderr } = await reading.stop();
    expect(times(stderr, `${file} was replaced by another file`)).toBe(1);
    expect(code).toBe(0);
  });

  it('reports that its file was deleted, shows its further events, and continues with the next file', async () => {
    const { file, reading } = followed();
    await shows(reading, [1, 2, 3]);
    const writer = new RingWriter(file, { wireVersion: 4, capacity: 64 });
    rmSync(file);
    await reading.says(/agent was deleted; the next file of that name will be read/);
    writer.push({ type: 0, value: 4 });
    await shows(reading, [1, 2, 3, 4]);
    writeFileSync(file, 'a text that is no ring, and long enough to be seen as one that is none');
    await reading.says(/agent is corrupt: not a NIXL ring/);
    rmSync(file);
    write(file, [5]);
    await shows(reading, [1, 2, 3, 4, 5]);
    await reading.says(/agent can be read again/);
    const { code, stderr } = await reading.stop();
    for (const part of ['was deleted', 'is corrupt', 'can be read again']) expect(times(stderr, part)).toBe(1);
    expect(code).toBe(0);
  });

  it('reports that its ring was truncated, and that it is a ring again', async () => {
    const { file, reading } = followed();
    await shows(reading, [1, 2, 3]);
    truncateSync(file);
    await reading.says(/agent is initializing: the file is empty/);
    write(file, [4]);
    await shows(reading, [1, 2, 3, 4]);
    await reading.says(/agent can be read again/);
    const { code, stderr } = await reading.stop();
    for (const part of ['is initializing', 'can be read again']) expect(times(stderr, part)).toBe(1);
    expect(code).toBe(0);
  });

  it('reports that its agent restarted in its file', async () => {
    const { file, reading } = followed();
    await shows(reading, [1, 2, 3]);
    write(file, [4]);
    await shows(reading, [1, 2, 3, 4]);
    await reading.says(/the agent of \S+ restarted/);
    expect((await reading.stop()).code).toBe(0);
  });
});

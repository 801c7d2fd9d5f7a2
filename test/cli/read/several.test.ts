/** `read` of several files. Each unreadable file causes a note and an exit code, and read continues with the others. */
import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRing, RingWriter } from '../../../src/shm-bridge/index.js';
import { type Ended, run, type RunningCommand, start, temporaryDirectory, until } from '../command.js';
import { runHere } from '../in-process.js';

const TEXT = 'a text that is no ring, and long enough to be seen as one that is none';

function write(file: string, values: readonly number[]): string {
  const writer = new RingWriter(file, { wireVersion: 4, capacity: 64 });
  for (const value of values) writer.push({ type: 0, value });
  writer.close();
  return file;
}

/** Makes rings `a` and `z`. `make` makes a file between them and returns its path. */
function filesWith(make: (directory: string) => string): string[] {
  const directory = temporaryDirectory();
  return [write(path.join(directory, 'a'), [1, 2]), make(directory), write(path.join(directory, 'z'), [3])];
}

function noRing(directory: string): string {
  const file = path.join(directory, 'm');
  writeFileSync(file, TEXT);
  return file;
}

function cut(directory: string): string {
  const file = write(path.join(directory, 'm'), [9]);
  truncateSync(file, 100);
  return file;
}

function valuesIn(stdout: string): number[] {
  const lines = stdout.slice(0, stdout.lastIndexOf('\n') + 1).split('\n');
  return lines.filter(Boolean).map((line) => Number(/"value":(\d+)/.exec(line)?.[1] ?? line.split(' ').at(-1)));
}

function notesOn(file: string, { stderr }: Pick<Ended, 'stderr'>): string[] {
  return stderr.split('\n').filter((line) => line.includes(`${file} `));
}

async function shows(reading: RunningCommand, values: readonly number[]): Promise<void> {
  await until(() => Promise.resolve(valuesIn(reading.stdout).length >= values.length));
  expect(valuesIn(reading.stdout)).toEqual(values);
}

describe.each([
  ['a text', 4, noRing],
  ['a ring that was cut', 4, cut],
  ['a directory', 4, (directory: string) => (mkdirSync(path.join(directory, 'm')), path.join(directory, 'm'))],
  [
    'a link',
    4,
    (directory: string) => (
      symlinkSync(path.join(directory, 'a'), path.join(directory, 'm')),
      path.join(directory, 'm')
    ),
  ],
  ['nothing', 3, (directory: string) => path.join(directory, 'm')],
  [
    'an empty file',
    3,
    (directory: string) => (writeFileSync(path.join(directory, 'm'), ''), path.join(directory, 'm')),
  ],
] as const)('nixl-otel read with %s between two rings', (_, code, make) => {
  it.each([['json'], ['line'], ['json', '--consume']])('prints the others as %s', async (format, ...flags) => {
    const files = filesWith(make);
    const ended = await runHere(['read', '--format', format, ...flags, ...files]);
    expect(valuesIn(ended.stdout)).toEqual([1, 2, 3]);
    expect(notesOn(files[1]!, ended)).toEqual([expect.stringMatching(/^nixl-otel: warning: .* is [a-z]+: /)]);
    expect(ended.stderr).toContain('error: 3 of 3 events printed, from 2 of 3 rings');
    expect(ended.code).toBe(code);
  });

  it('follows the others', async () => {
    const files = filesWith(make);
    const reading = start(['read', '--follow', '--format', 'json', ...files]);
    await shows(reading, [1, 2, 3]);
    const writer = new RingWriter(write(path.join(path.dirname(files[0]!), 'a'), [4]), {
      wireVersion: 4,
      capacity: 64,
    });
    writer.push({ type: 0, value: 5 });
    await until(() => Promise.resolve(valuesIn(reading.stdout).includes(5)));
    const ended = await reading.stop('SIGINT');
    expect(notesOn(files[1]!, ended)).toHaveLength(1);
    expect(ended.code).toBe(code);
  });

  it('reads a file that becomes a ring later, and ends with 0', async () => {
    const files = filesWith(make);
    const reading = start(['read', '--follow', '--format', 'json', ...files]);
    await shows(reading, [1, 2, 3]);
    rmSync(files[1]!, { recursive: true, force: true });
    write(files[1]!, [7]);
    await shows(reading, [1, 2, 3, 7]);
    await reading.says(/m can be read/);
    expect((await reading.stop('SIGINT')).code).toBe(0);
  });
});

describe('nixl-otel read', () => {
  it('ends with 5 if a ring cannot be opened, and with 4 if another file is no ring', async () => {
    const held: { close(): void }[] = []; // by this process, which would not refuse itself
    const files = filesWith((directory) => {
      const file = write(path.join(directory, 'm'), [9]);
      held.push(openRing(file));
      return file;
    });
    const flags = ['read', '--consume', '--format', 'json'];
    const ended = await run([...flags, ...files]);
    expect(valuesIn(ended.stdout)).toEqual([1, 2, 3]);
    expect(notesOn(files[1]!, ended)).toEqual([expect.stringContaining('is busy: ')]);
    expect(ended.code).toBe(5);
    const text = path.join(path.dirname(files[0]!), 'text');
    writeFileSync(text, TEXT);
    const missing = path.join(path.dirname(files[0]!), 'missing');
    expect((await run([...flags, missing, ...files, text])).code).toBe(4);
    expect((await run([...flags, missing, ...files])).code).toBe(5);
    for (const ring of held) ring.close();
  });

  it('ends with 4, 5 or 3 if it can read no file, and prints nothing', async () => {
    const directory = temporaryDirectory();
    const [text, missing] = [noRing(directory), path.join(directory, 'missing')];
    for (const more of [[], ['--follow'], ['--consume'], ['--format', 'csv']]) {
      for (const [files, code, notes] of [
        [[text, missing], 4, 2],
        [[missing, `${missing}-too`], 3, 2],
        [[text], 4, 0],
      ] as const) {
        const ended = await runHere(['read', ...more, ...files]);
        expect(ended.stderr.split('\n').filter((line) => line.includes('warning'))).toHaveLength(notes);
        expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: '' });
      }
    }
  });

  it('reads a file once that is given twice', async () => {
    const [file] = filesWith(noRing);
    for (const flags of [[], ['--consume']]) {
      const twice = path.join(path.dirname(file!), '..', path.basename(path.dirname(file!)), 'a');
      const { code, stdout, stderr } = await runHere(['read', '--format', 'json', ...flags, file!, twice, file!]);
      expect(valuesIn(stdout)).toEqual([1, 2]);
      expect(stderr).toContain('2 of 2 events printed, from 1 ring\n');
      expect(code).toBe(0);
    }
  });

  it.each([[[]], [['--consume']]])('ends with 4 if a followed ring stays truncated: %j', async (flags) => {
    const files = filesWith((directory) => write(path.join(directory, 'm'), [9]));
    const reading = start(['read', '--follow', '--format', 'json', ...flags, ...files]);
    await shows(reading, [1, 2, 9, 3]);
    truncateSync(files[1]!, 100);
    await reading.says(/m is [a-z]+: /);
    const other = new RingWriter(path.join(path.dirname(files[0]!), 'z'), { wireVersion: 4, capacity: 64 });
    other.push({ type: 0, value: 4 });
    await until(() => Promise.resolve(valuesIn(reading.stdout).includes(4)));
    const ended = await reading.stop('SIGINT');
    expect(notesOn(files[1]!, ended)).toHaveLength(1);
    expect(ended.stderr).toContain('from 2 of 3 rings');
    expect(ended.code).toBe(4);
  });

  it('ends with 0 if a followed ring was deleted, because it was read to its end', async () => {
    const files = filesWith((directory) => write(path.join(directory, 'm'), [9]));
    const reading = start(['read', '--follow', '--format', 'json', ...files]);
    await shows(reading, [1, 2, 9, 3]);
    rmSync(files[1]!);
    await reading.says(/m was deleted/);
    expect((await reading.stop('SIGINT')).code).toBe(0);
  });

  it('refuses --errors together with --slow', async () => {
    const { code, stderr } = await runHere(['read', '--errors', '--slow', '1ms', '/none']);
    expect(stderr).toContain('--errors and --slow exclude each other');
    expect(code).toBe(2);
  });
});

describe.skipIf(process.getuid!() === 0)('without permission', () => {
  it('ends with 5 if a ring must not be opened', async () => {
    const files = filesWith((directory) => {
      const file = write(path.join(directory, 'm'), [9]);
      chmodSync(file, 0);
      return file;
    });
    const ended = await runHere(['read', '--format', 'json', ...files]);
    expect(valuesIn(ended.stdout)).toEqual([1, 2, 3]);
    expect(ended.code).toBe(5);
  });
});

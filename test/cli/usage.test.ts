import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { withinColumns } from '../../src/cli/help-text.js';
import { ROOT, run, temporaryDirectory } from './command.js';
import { runHere } from './in-process.js';

const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
const COMMANDS = [
  ...[[], ['serve'], ['read'], ['list'], ['top'], ['doctor'], ['completion'], ['demo'], ['simulate'], ['compare']],
  ...[['config'], ['config', 'check'], ['config', 'print'], ['config', 'schema']],
];

describe.each(COMMANDS)('nixl-otel %s', (...command) => {
  it.each(['--help', '-h'])('answers %s on stdout', async (flag) => {
    const { code, stdout, stderr } = await runHere([...command, flag]);
    expect(stdout).toContain(`Usage: ${['nixl-otel', ...command].join(' ')}`);
    if (command[0] !== 'config' || command.length === 1)
      expect(stdout).toContain('Exit codes: 0 ok, 1 failed, 2 wrong');
    expect(stdout.split('\n').filter((line) => line.length > 80 && !line.startsWith('Documentation: /'))).toEqual([]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it.each(['--version', '-V'])('answers %s on stdout', async (flag) => {
    expect(await runHere([...command, flag])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('refuses a flag that does not exist', async () => {
    // In a process of its own: the compiled modules of each command load, and the exit code arrives.
    const { code, stdout, stderr } = await run([...command, '--no-such-flag']);
    expect(stderr).toMatch(/^nixl-otel: (error: )?.*--no-such-flag/);
    for (const line of stderr.trimEnd().split('\n')) expect(line).toMatch(/^nixl-otel: |^\(Did you mean/);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

it.each([
  ['--version', '--no-such-flag'],
  ['-V', 'list'],
])('answers the version without a look at what follows: %s %s', async (...args) => {
  expect(await runHere(args)).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});

it.each([
  ["unknown command '--version'", '--', '--version'],
  ["unknown option '--version=1'", '--version=1'],
])('takes no version: %s', async (reason, ...args) => {
  const { code, stdout, stderr } = await runHere(args);
  expect(stderr).toContain(reason);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});

describe('wrong usage', () => {
  it('shows the help on stderr when there is no command', async () => {
    const { code, stdout, stderr } = await runHere([]);
    expect(stderr).toContain('serve');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it.each([
    ['sevre', 'sevre'],
    ['sevre', 'sevre', '--help'],
    ['chekc', 'config', 'chekc', '--help'],
  ])('names a command that does not exist: %s', async (unknown, ...args) => {
    const { code, stdout, stderr } = await runHere(args);
    expect(stderr).toContain(`unknown command '${unknown}'`);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('names the flag and the variable if no directory of rings is set', async () => {
    for (const env of [{}, { NIXL_TELEMETRY_DIR: '' }]) {
      const { code, stderr } = await runHere(['serve'], env);
      expect(stderr).toContain('--dir');
      expect(stderr).toContain('NIXL_TELEMETRY_DIR');
      expect(code).toBe(2);
    }
  });

  it.each([
    ['--port', '65536', 'from 0 to 65535'],
    ['--port', '', 'from 0 to 65535'],
    ['--port', '0x50', 'from 0 to 65535'],
    ['--port', '1e3', 'from 0 to 65535'],
    ['--host', '', 'an address or a host name'],
    ['--naming', 'prometheus', 'nixl, otel'],
    ['--page', 'no', 'on, off'],
    ['--drain-interval', '0', 'from 1 to 10000'],
    ['--drain-interval', 'fast', 'from 1 to 10000'],
    ['--dead-ttl', '30s', 'from 0 to 1099511627776'],
    ['--dead-ttl', '1.5', 'from 0 to'],
    ['--dead-ttl', '1099511627777', 'from 0 to'],
    ['--idle-ttl', '0', 'from 1 to 1099511627776'],
    ['--idle-ttl', '1099511627777', 'from 1 to'],
    ['--dir', '', 'a path'],
    ['--log-level', 'loud', 'none, error, warn, info'],
  ])('%s %j is refused with what is allowed', async (flag, value, allowed) => {
    const { code, stdout, stderr } = await runHere(['serve', '--dir', temporaryDirectory(), `${flag}=${value}`]);
    expect(stderr).toContain(flag);
    expect(stderr).toContain(`'${value}'`);
    expect(stderr).toContain(allowed);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('refuses an interval of the demo that is too short', async () => {
    const { code, stderr } = await runHere(['demo', '--interval', '99']);
    expect(stderr).toContain('from 100 to 3600000');
    expect(code).toBe(2);
  });
});

it('warns about a log level that does not exist, and continues', async () => {
  const { code, stderr } = await runHere(['--version'], { OTEL_LOG_LEVEL: 'loud' });
  expect(stderr).toContain('OTEL_LOG_LEVEL is "loud"');
  expect(stderr).toContain('verbose');
  expect(code).toBe(0);
});

it.each([
  ['a short line', 'a short line'],
  ['one two three four five\nsix', 'one two three\nfour five six'],
  ['one two three four five\n\nsix', 'one two three\nfour five\n\nsix'],
  ['  --flag  one two three\n  --more  x', '  --flag  one two\n          three\n  --more  x'],
  ['  --flag  one two three\n          four', '  --flag  one two\n          three\n          four'],
  ['  --flag  x (ONE_TWO_THREE;\n          y)', '  --flag  x\n  (ONE_TWO_THREE;\n          y)'],
  ['  nixl-otel serve --dir x', '  nixl-otel \\\n    serve --dir x'],
  ['a/long/path/without/an/end', 'a/long/path/without/an/end'],
])('help is broken into lines of a screen: %j', (text, expected) => {
  expect(withinColumns(text, 17)).toBe(expected);
});

/** With --log-format json each line on stderr is JSON, including errors before the settings are known. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { start, temporaryDirectory } from './command.js';
import { runHere } from './in-process.js';

interface Line {
  time: string;
  level: string;
  message: string;
}

function linesOf(stderr: string): Line[] {
  return stderr
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
}

function fileWith(text: string, name = 'nixl-otel.yaml'): string {
  const file = path.join(temporaryDirectory(), name);
  writeFileSync(file, text);
  return file;
}

const JSON_FILE = 'serve:\n  logFormat: json\n';

async function expectJson(args: string[], env: NodeJS.ProcessEnv, first: RegExp, level = 'error'): Promise<Line[]> {
  const { code, stdout, stderr } = await runHere(args, env);
  const lines = linesOf(stderr);
  expect(lines[0]).toEqual({
    time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    level,
    message: expect.stringMatching(first) as string,
  });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  return lines;
}

describe('--log-format json', () => {
  it.each([
    [['serve', '--port', 'x', '--log-format', 'json'], /^option '--port <number>' argument 'x' is invalid/],
    [['serve', '--log-format', 'json', '--port', 'x'], /^option '--port/],
    [['serve', '--log-format=json', '--no-such-flag'], /^unknown option '--no-such-flag'/],
    [['serve', '--log-format=json', 'excess'], /^too many arguments/],
    [['serve', '--log-format=json'], /^no directory of rings/],
    [['serve', '--log-format=json', '--dir'], /^option '--dir <dir>' argument missing/],
    [['list', '--log-format=json'], /^unknown option '--log-format=json'/],
    [['--log-format=json'], /^unknown option/],
    [['sevre', '--log-format=json'], /^unknown command 'sevre'/],
    [['serve', '--log-format=json', '--config', '/no/such.yaml'], /^the configuration file cannot be read/],
    [['serve', '--log-format=json', '--exporter', 'prometheus,none'], /none alone/],
  ])('%j', async (args, first) => {
    await expectJson(args, {}, first);
  });

  it('holds for mistakes in the file, all of them in one line', async () => {
    const file = fileWith('naming: x\nhostname: 5\n');
    const lines = await expectJson(['serve', '--log-format=json', '--config', file], {}, /naming is "x".*\n.*hostname/);
    expect(lines).toHaveLength(1);
  });

  it('holds for warnings from before the settings', async () => {
    const env = { OTEL_LOG_LEVEL: 'loud' };
    const lines = await expectJson(['serve', '--log-format=json'], env, /OTEL_LOG_LEVEL is "loud"/, 'warning');
    expect(lines.at(-1)!.message).toBe('--help shows the usage.');
  });

  it("holds for Node's own warnings", async () => {
    const directory = temporaryDirectory();
    writeFileSync(
      path.join(directory, 'own.mjs'),
      `process.emitWarning('own words', 'OwnWarning');
       export default { export(_, done) { done({ code: 0 }); }, async forceFlush() {}, async shutdown() {} };`,
    );
    const serve = start(['serve', '--dir', directory, '--exporter', `${directory}/own.mjs`, '--log-format', 'json']);
    await serve.says(/exports from/);
    const { code, stderr } = await serve.stop('SIGTERM');
    expect(linesOf(stderr)).toContainEqual(
      expect.objectContaining({ level: 'warning', message: 'OwnWarning: own words' }),
    );
    expect(code).toBe(0);
  });

  it('does not hold with --log-format text', async () => {
    for (const args of [['serve', '--log-format', 'text'], ['serve', '--log-format', 'xml'], ['serve']]) {
      const { stderr } = await runHere(args, { OTEL_LOG_LEVEL: 'loud' });
      expect(stderr).toMatch(
        /^nixl-otel: warning: OTEL_LOG_LEVEL is "loud".*\nnixl-otel: error: .*\nnixl-otel: --help shows the usage\.\n$/,
      );
    }
  });
});

describe('logFormat: json in the file', () => {
  it.each<[string, string, string[], RegExp]>([
    ['a flag', JSON_FILE, ['--port', 'x'], /^option '--port/],
    ['another key', `${JSON_FILE}  port: x\n`, [], /serve\.port is "x"/],
    ['the YAML', `${JSON_FILE}a: [`, [], /nixl-otel.yaml:\d+:\d+: /],
    ['nothing but a directory', JSON_FILE, [], /no rings to read/],
  ])('holds where %s is wrong', async (_, text, flags, first) => {
    const env = { OTEL_LOG_LEVEL: 'loud' };
    for (const [args, more] of [
      [['--config', fileWith(text)], {}],
      [[`--config=${fileWith(text)}`], {}],
      [[], { NIXL_OTEL_CONFIG: fileWith(text) }],
    ] as const) {
      const lines = await expectJson(['serve', ...args, ...flags], { ...env, ...more }, /OTEL_LOG_LEVEL/, 'warning');
      expect(lines[1]!.message).toMatch(first);
    }
  });

  it('holds if the file is truncated JSON', async () => {
    const file = fileWith('{"serve": {"logFormat": "json"},', 'c.json');
    await expectJson(['serve', '--config', file], {}, /c\.json:1:33: not JSON: the file ends here/);
  });

  it('yields to the flag', async () => {
    const { stderr } = await runHere(['serve', '--config', fileWith(JSON_FILE), '--log-format', 'text', '--port', 'x']);
    expect(stderr).toMatch(/^nixl-otel: error: option/);
  });

  it('holds for a running serve', async () => {
    const directory = path.join(temporaryDirectory(), 'rings');
    mkdirSync(directory);
    const file = fileWith(`directories: ${directory}\nenabledMetrics: nothing\n${JSON_FILE}  port: 0\n`);
    const serve = start(['serve', '--config', file], { OTEL_SDK_DISABLED: '1' });
    await serve.says(/serves http/);
    const { stderr } = await serve.stop('SIGTERM');
    expect(linesOf(stderr).map(({ level }) => level)).toEqual(['warning', 'warning', 'info']);
  });
});

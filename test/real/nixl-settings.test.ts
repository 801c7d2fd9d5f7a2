/** What real agents do with settings that they cannot use, by release, and with NIXL's configuration file. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { AGENT_STOPS, type AgentStop } from '../../src/cli/doctor/agent-stops.js';
import { inspectRing } from '../../src/rings.js';
import { run, temporaryDirectory } from '../cli/command.js';
import { provideNixl } from './tools.js';

const PROGRAM = new URL('nixl/construct.py', import.meta.url).pathname;
const packages = await provideNixl();
const exec = promisify(execFile);

/** Constructs an agent with these variables alone. @returns the last line: `runs`, or the error */
async function construct(release: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { PATH, LD_LIBRARY_PATH } = process.env;
  const all = { PATH, LD_LIBRARY_PATH, HOME: '/missing', PYTHONPATH: packages!.get(release), NIXL_LOG_LEVEL: 'FATAL' };
  const { stdout } = await exec('python3', [PROGRAM], { env: { ...all, ...env } });
  return stdout.trim().split('\n').at(-1)!;
}

const isBefore = (a: string, b: string): boolean => a.localeCompare(b, undefined, { numeric: true }) < 0;

describe.skipIf(packages === undefined).each([...(packages?.keys() ?? [])])('NIXL %s', (release) => {
  it.each(Object.entries<AgentStop>(AGENT_STOPS))('with a wrong setting: %s', async (_, stop) => {
    const [DIR, folder] = [temporaryDirectory(), temporaryDirectory()];
    const values: Record<string, string> = {
      DIR,
      MISSING: path.join(folder, 'missing'),
      FILE: path.join(folder, 'file'),
    };
    if (stop.file !== undefined) writeFileSync(values['FILE']!, stop.file);
    const env = Object.fromEntries(Object.entries(stop.example).map(([name, text]) => [name, values[text] ?? text]));
    const answer = await construct(release, env);
    if (isBefore(release, stop.raisesSince)) expect(answer).toBe('runs');
    else expect(answer).toContain(stop.words);
    const ring = path.join(DIR, 'agent');
    if (existsSync(ring)) expect(inspectRing(ring).state).not.toBe('ready');
  });

  it('finds its directory in its configuration file, since 1.2.0, as list does', async () => {
    const folder = temporaryDirectory();
    const [file, directory] = [path.join(folder, '.nixl.cfg'), path.join(folder, 'rings')];
    mkdirSync(directory);
    writeFileSync(
      file,
      `NIXL_TELEMETRY_ENABLE = true\nNIXL_TELEMETRY_DIR = "${directory}"\nNIXL_TELEMETRY_BUFFER_SIZE = 512\n`,
    );
    for (const env of [{ NIXL_CONFIG_FILE: file }, { HOME: folder }]) {
      expect(await construct(release, env)).toBe('runs');
      const { stdout } = await run(['list', '--json'], env);
      const found = stdout === '' ? [] : [(JSON.parse(stdout) as { capacity: number }).capacity];
      expect(found).toEqual(isBefore(release, '1.2.0') ? [] : [512]);
    }
    expect(statSync(directory).isDirectory()).toBe(true);
  });
});

/** `nixl-otel simulate`: runs transfer-source, passes its flags and its exit code on, and leaves no process behind. */
import { chmodSync, cpSync, existsSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAIN, ROOT, RunningCommand, run, start, temporaryDirectory, until } from './command.js';

interface Totals {
  agents: { agent: string }[];
  totals: { transfersTx: number; transfersRx: number; events: Record<string, { count: string; sum: string }> };
}

const totalsOf = (stdout: string): Totals => JSON.parse(stdout) as Totals;

describe('nixl-otel simulate', () => {
  it('writes the rings that its flags describe, the same for each run', async () => {
    const flags = ['--agents', '2', '--name', 'decode', '--transfers', '40', '--sizes=4k:1,8k:1', '--errors', '50'];
    const runs = [];
    for (const seed of ['7', '7', '8']) {
      const directory = temporaryDirectory();
      const { code, stdout, stderr } = await run([
        'simulate',
        '--dir',
        directory,
        '--rate=0',
        '--seed',
        seed,
        ...flags,
      ]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { agents, totals } = totalsOf(stdout);
      expect(agents.map(({ agent }) => agent)).toEqual(['decode-0', 'decode-1']);
      for (const { agent } of agents) expect(existsSync(path.join(directory, agent))).toBe(true);
      const errors = Object.entries(totals.events).filter(([name]) => name.startsWith('agent_err_'));
      const failed = errors.reduce((sum, [, { count }]) => sum + Number(count), 0);
      expect(failed).toBeGreaterThan(0);
      expect(totals.transfersTx + totals.transfersRx + failed).toBe(80);
      runs.push(totals.events['agent_tx_bytes']);
    }
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[2]).not.toEqual(runs[0]);
  });

  it('passes on what the program refuses, once, and its exit code', async () => {
    expect(await run(['simulate', '--dir', temporaryDirectory(), '--agents', '0'])).toEqual({
      code: 2,
      signal: null,
      stdout: '',
      stderr: 'nixl-otel: --agents is "0": use a whole number from 1 to 4096\n',
    });
    const file = path.join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const { code, stderr } = await run(['simulate', '--dir', path.join(file, 'rings')]);
    expect(stderr).toMatch(/^nixl-otel: agent-0: .*\n$/);
    expect(code).toBe(1);
  });

  it('says on a terminal that it works, and how it ends', async () => {
    const directory = temporaryDirectory();
    const words = [process.execPath, MAIN, 'simulate', '--dir', directory, '--transfers', '5', '--rate', '0'];
    const { code, stdout } = await new RunningCommand('script', ['-qec', words.join(' '), '/dev/null']).ended;
    const [said, totals] = stdout.trim().split('\r\n');
    expect(said).toBe(`nixl-otel: writes rings in ${directory}; Ctrl-C ends it`);
    expect(totalsOf(totals!).agents).toHaveLength(1);
    expect(code).toBe(0);
  });

  it('has the flags of the program in its help', async () => {
    const { stdout } = await run(['simulate', '--help']);
    const flags = ['--dir DIR', '--agents N', '--rate N', '--errors PERCENT', '--sizes LIST', '--seed N'];
    const times = ['--bandwidth LIST', '--base-us N', '--post-us N', '--slow-after S', '--slow-factor LIST'];
    for (const flag of [...flags, ...times]) {
      expect(stdout).toContain(`\n  ${flag} `);
    }
    expect(stdout.match(/Usage:/g)).toHaveLength(1);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('prints totals after %s', async (signal) => {
    const simulate = start(['simulate', '--dir', temporaryDirectory(), '--seconds', '0', '--ready']);
    await simulate.says(/^ready$/m);
    const { code, stdout, stderr } = await simulate.stop(signal);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(totalsOf(stdout.replace('ready\n', '')).agents).toHaveLength(1);
  });

  it('ends its agents when it is killed, and reports when they are', async () => {
    const begin = async () => {
      const simulate = start(['simulate', '--dir', temporaryDirectory(), '--seconds', '0', '--ready']);
      await simulate.says(/^ready$/m);
      const { pid } = simulate.child;
      return { simulate, child: Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')) };
    };
    const first = await begin();
    await first.simulate.stop('SIGKILL');
    await until(() => Promise.resolve(!existsSync(`/proc/${first.child}`)));

    const second = await begin();
    process.kill(second.child, 'SIGKILL');
    const { code, stderr } = await second.simulate.ended;
    expect(stderr).toMatch(/^nixl-otel: error: \S+transfer-source was ended by SIGKILL\n$/);
    expect(code).toBe(1);
  });
});

describe('without the program', () => {
  /** Copies the package without its native part. */
  function withoutNativePart(): { main: string; build: string } {
    const copy = temporaryDirectory();
    const original = path.dirname(realpathSync(path.join(ROOT, 'dist'))); // of the checkout or of the installed package
    for (const name of ['dist', 'package.json', 'native/Makefile']) {
      cpSync(path.join(original, name), path.join(copy, name), { recursive: true });
    }
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
    return { main: path.join(copy, 'dist/cli/main.js'), build: path.join(copy, 'native/build') };
  }

  it('names the command that builds it, also in the help', async () => {
    const { main } = withoutNativePart();
    for (const [args, exitCode] of [[['--dir', 'x'], 1] as const, [['--help'], 0] as const]) {
      const { code, stdout, stderr } = await new RunningCommand(process.execPath, [main, 'simulate', ...args]).ended;
      const said = /no transfer-source for linux-\w+-\w+; build it with: make -C ".*native" \(needs make and a C\+\+20/;
      expect((stdout + stderr).replaceAll(/\s+/g, ' ')).toMatch(said);
      expect(code).toBe(exitCode);
    }
  });

  it('ends with exit code 4 on a platform without a binary', async () => {
    const { main } = withoutNativePart();
    const other = `data:text/javascript,Object.defineProperty(process, 'arch', { value: 'riscv64' })`;
    const args = ['--import', other, main, 'simulate', '--dir', 'x'];
    const { code, stderr } = await new RunningCommand(process.execPath, args).ended;
    expect(stderr).toContain('no transfer-source for linux-riscv64-');
    expect(code).toBe(4);
  });

  it('reports a program that cannot be started', async () => {
    const { main, build } = withoutNativePart();
    cpSync(path.join(ROOT, 'package.json'), path.join(build, 'transfer-source'));
    chmodSync(path.join(build, 'transfer-source'), 0o644);
    const { code, stderr } = await new RunningCommand(process.execPath, [main, 'simulate', '--dir', 'x']).ended;
    expect(stderr).toMatch(/^nixl-otel: error: \S+transfer-source cannot be started: spawn .* EACCES\n$/);
    expect(code).toBe(1);
    rmSync(build, { recursive: true });
  });

  it('needs Linux', async () => {
    const preload = path.join(temporaryDirectory(), 'darwin.mjs');
    writeFileSync(preload, `Object.defineProperty(process, 'platform', { value: 'darwin' });`);
    expect(await run(['simulate', '--dir', 'x'], { NODE_OPTIONS: `--import ${preload}` })).toMatchObject({
      code: 4,
      stderr: 'nixl-otel: error: agents write rings on Linux only, and this is darwin: use a Linux container\n',
    });
  });
});

/** top on a real terminal, which `script` makes: its frames, and the restored terminal after every kind of end. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HistoryAnswer } from '../../../../src/cli/api/history-answer.js';
import { ROOT, start, startTransferSource, temporaryDirectory, until } from '../../command.js';

const ENTER = '\x1b[?1049h';
const LEAVE = '\x1b[?1049l';
const MOUSE_OFF = '\x1b[?1006l\x1b[?1000l';
const END = '\x1b[F';
const hasScript = spawnSync('script', ['--version']).status === 0;

class Terminal {
  text = '';
  readonly child: ChildProcess;
  /** Gets the exit code of top. */
  readonly codeFile = path.join(temporaryDirectory(), 'code');
  readonly #ended: Promise<unknown>;

  constructor(args: string, env: NodeJS.ProcessEnv = {}) {
    const top = `echo pid=$$; exec "${process.execPath}" dist/cli/main.js top --interval 100 ${args}`;
    // The shell outlives its terminal, to keep the exit code.
    const keep = `rc=$?; echo $rc >${this.codeFile}.part; mv ${this.codeFile}.part ${this.codeFile}`;
    const command = `trap '' HUP; stty rows 20 cols 90; sh -c '${top}'; ${keep}; echo "rc=$rc"; stty -a`;
    this.child = spawn('script', ['-qfc', command, '/dev/null'], {
      cwd: ROOT,
      env: { ...process.env, TERM: 'xterm-256color', NO_COLOR: '', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void this.child.kill('SIGKILL'));
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.text += text));
    this.#ended = new Promise((resolve) => this.child.once('close', resolve));
  }

  async shows(pattern: RegExp): Promise<RegExpExecArray> {
    return until(() => Promise.resolve(pattern.exec(this.text) ?? undefined));
  }

  async pid(): Promise<number> {
    return Number((await this.shows(/pid=(\d+)/))[1]);
  }

  type(keys: string): void {
    this.child.stdin!.write(keys);
  }

  /** Waits for the end. Returns the later output of the shell and the terminal. */
  async after(): Promise<{ code: number; restored: boolean; text: string }> {
    await this.#ended;
    const text = this.text.slice(Math.max(0, this.text.lastIndexOf(LEAVE)));
    const code = Number(/rc=(\d+)/.exec(text)?.[1]);
    const cooked = /[^-]icanon/.test(text) && /[^-]echo\b/.test(text) && text.includes('\x1b[?25h') === false;
    const once = this.text.split(ENTER).length === 2 && this.text.split(LEAVE).length === 2;
    return { code, restored: cooked && once && this.text.includes(`${MOUSE_OFF}\x1b[?7h\x1b[?25h${LEAVE}`), text };
  }
}

async function onRings(args = '', env: NodeJS.ProcessEnv = {}): Promise<Terminal> {
  const dir = temporaryDirectory();
  startTransferSource(['--dir', dir, '--seconds', '0', '--rate', '200', '--errors', '20']);
  await until(() => Promise.resolve(existsSync(path.join(dir, 'agent-0'))));
  const terminal = new Terminal(`--dir ${dir} ${args}`, env);
  await terminal.shows(/agent-0 +[1-9]/);
  return terminal;
}

describe.skipIf(!hasScript)('on a terminal', () => {
  it.each([
    ['q', 'q', 0],
    ['Ctrl-C', '\x03', 0],
  ])('%s ends top and restores the terminal', async (_, key, code) => {
    const terminal = await onRings();
    terminal.type(key);
    expect(await terminal.after()).toMatchObject({ code, restored: true });
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s does so, too', async (signal) => {
    const terminal = await onRings();
    process.kill(await terminal.pid(), signal);
    expect(await terminal.after()).toMatchObject({ code: 0, restored: true });
  });

  it('so does an uncaught error, and its message is readable', async () => {
    const throwing = 'process.on(`SIGUSR2`,()=>{throw(new(Error)(`boom`))})';
    const terminal = await onRings('', {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(throwing)}`,
    });
    process.kill(await terminal.pid(), 'SIGUSR2');
    const { code, restored, text } = await terminal.after();
    expect({ code, restored }).toEqual({ code: 1, restored: true });
    expect(text).toContain('Error: boom');
  });

  it('ends with 0 when its terminal is closed', async () => {
    const terminal = await onRings();
    terminal.child.kill('SIGKILL');
    await until(() => Promise.resolve(existsSync(terminal.codeFile)));
    expect(readFileSync(terminal.codeFile, 'utf8')).toBe('0\n');
  });

  it('leaves the last numbers after --count, and reports if there were no agents', async () => {
    const counted = await onRings('--count 10');
    const { code, restored, text } = await counted.after();
    expect({ code, restored }).toEqual({ code: 0, restored: true });
    // Rates may be 0: on a slow machine the writer may not have run in the last interval.
    expect(text).toMatch(/TIME .*\r\n.* agent-0 +\d/);

    const nothing = new Terminal(`--dir ${temporaryDirectory()} --count 2`);
    expect(await nothing.after()).toMatchObject({ code: 3, restored: true });
  });

  it('draws in colours unless NO_COLOR is set', async () => {
    const sgr = /\x1b\[[\d;]+m/; // eslint-disable-line no-control-regex
    const coloured = await onRings();
    coloured.type('q');
    expect(sgr.test((await coloured.after(), coloured.text))).toBe(true);
    const plain = await onRings('', { NO_COLOR: '1' });
    plain.type('q');
    await plain.after();
    expect(sgr.test(plain.text.replaceAll('\x1b[0m', ''))).toBe(false);
  });

  it('answers to keys', async () => {
    const terminal = await onRings();
    terminal.type('h');
    await terminal.shows(/finished transfers/);
    terminal.type('h/zzz\r');
    await terminal.shows(/No agent matches zzz/);
    terminal.type('\x1b');
    await terminal.shows(/No agent matches zzz[\s\S]*agent-0 +\d/);
    terminal.type('q');
    expect(await terminal.after()).toMatchObject({ code: 0, restored: true });
  });

  it('opens the agent under the cursor, with what its ring says', async () => {
    const terminal = await onRings();
    terminal.type('j');
    terminal.type('\r');
    await terminal.shows(/1 of 1/);
    await terminal.shows(/TRANSFER TIME/);
    await until(() => {
      // Lines are added while statuses of errors occur for the first time.
      terminal.type(END);
      return Promise.resolve(/events read, wire version \d/.test(terminal.text));
    });
    terminal.type('\r+');
    await terminal.shows(/200 ms {2}\d\d:/);
    terminal.type('q');
    expect(await terminal.after()).toMatchObject({ code: 0, restored: true });
  });

  it('answers to the mouse until it is switched off', async () => {
    const terminal = await onRings();
    // Twice on the first row: its line counts from 1.
    terminal.type('\x1b[<0;4;8M\x1b[<0;4;8m\x1b[<0;');
    terminal.type('4;8M\x1b[<0;4;8m');
    await terminal.shows(/TRANSFER TIME/);
    terminal.type('\x1b');
    await terminal.shows(/TRANSFER TIME[^]*TX\+RX/);
    terminal.type('m');
    await until(() => Promise.resolve(terminal.text.includes(MOUSE_OFF)));
    terminal.type('q');
    expect(await terminal.after()).toMatchObject({ code: 0, restored: true });
    const without = await onRings('--no-mouse');
    without.type('q');
    expect(await without.after()).toMatchObject({ code: 0, restored: true });
    expect(without.text).not.toContain('\x1b[?1000h');
  });

  it('copies the open agent, and runs doctor for it', async () => {
    const terminal = await onRings();
    terminal.type('j\r');
    await terminal.shows(/1 of 1/);
    terminal.type('c');
    const [, copied] = await terminal.shows(/\x1b\]52;c;([\w+/=]+)\x07/); // eslint-disable-line no-control-regex
    expect(JSON.parse(Buffer.from(copied!, 'base64').toString())).toMatchObject({ agent: 'agent-0', state: 'live' });
    await terminal.shows(/Copied as JSON/);
    terminal.type('d');
    // The process of transfer-source was started without the variables of agents.
    await terminal.shows(/DOCTOR[^]*process \d+ \(transfer-source\)/);
    terminal.type('q');
    expect(await terminal.after()).toMatchObject({ code: 0, restored: true });
  });

  it('begins with the graphs of what serve has recorded', async () => {
    const dir = temporaryDirectory();
    startTransferSource(['--dir', dir, '--seconds', '0', '--rate', '200']);
    const serve = start(['serve', '--dir', dir, '--port', '0']);
    const [, url] = await serve.says(/serves (\S+)/);
    await until(async () => {
      const answer = await fetch(new URL('/api/v1/history', url));
      return ((await answer.json()) as HistoryAnswer).fleet.tx.filter((rate) => rate !== null && rate > 0).length > 2;
    });
    // All that this screen shows of rates is of the time before its first sample.
    const terminal = new Terminal(`--url ${url} --interval 3600000`);
    await terminal.shows(/\x1b\[5;1H[^H]*[\u2801-\u28ff]/); // eslint-disable-line no-control-regex
    terminal.type('q');
    expect(await terminal.after()).toMatchObject({ code: 0, restored: true });
  });

  it('is no screen on a dumb terminal, nor with --once', async () => {
    const dumb = await onRings('--count 5', { TERM: 'dumb' });
    const { code } = await dumb.after();
    expect(code).toBe(0);
    expect(dumb.text).not.toContain('\x1b[');
  });
});

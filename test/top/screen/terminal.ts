/** top on a real terminal, which `script` makes. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { ROOT, startTransferSource, temporaryDirectory, until } from '../../cli/command.js';

const ENTER = '\x1b[?1049h';
const LEAVE = '\x1b[?1049l';
export const MOUSE_OFF = '\x1b[?1006l\x1b[?1000l';
export const hasScript = spawnSync('script', ['--version']).status === 0;

export class Terminal {
  text = '';
  readonly child: ChildProcess;
  /** Gets the exit code of top. */
  readonly codeFile = path.join(temporaryDirectory(), 'code');
  readonly #ended: Promise<unknown>;

  /** Without colours, so that patterns meet text alone. Unless XDG_CONFIG_HOME is given, top remembers nothing from earlier runs. */
  constructor(args: string, env: NodeJS.ProcessEnv = {}) {
    const interval = args.includes('--interval') ? '' : '--interval 100';
    const top = `echo pid=$$; exec "${process.execPath}" dist/cli/main.js top ${interval} ${args}`;
    // The shell outlives its terminal, to keep the exit code.
    const keep = `rc=$?; echo $rc >${this.codeFile}.part; mv ${this.codeFile}.part ${this.codeFile}`;
    const command = `trap '' HUP; stty rows 20 cols 90; sh -c '${top}'; ${keep}; echo "rc=$rc"; stty -a`;
    this.child = spawn('script', ['-qfc', command, '/dev/null'], {
      cwd: ROOT,
      env: { ...process.env, TERM: 'xterm-256color', NO_COLOR: '1', XDG_CONFIG_HOME: temporaryDirectory(), ...env },
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

/** Returns the directory of an agent that moves data until the end of the test. */
export function ringsAtWork(): string {
  const dir = temporaryDirectory();
  // Nothing drains the ring: full, it would show no rates. It has room for minutes.
  startTransferSource(['--dir', dir, '--seconds', '0', '--rate', '200', '--errors', '20', '--buffer-size', '1048576']);
  return dir;
}

export async function onRings(args = '', env: NodeJS.ProcessEnv = {}): Promise<Terminal> {
  const dir = ringsAtWork();
  await until(() => Promise.resolve(existsSync(path.join(dir, 'agent-0'))));
  const terminal = new Terminal(`--dir ${dir} ${args}`, env);
  await terminal.shows(/agent-0 +[1-9]/);
  return terminal;
}

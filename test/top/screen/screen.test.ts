/** top on a real terminal: its frames, and the restored terminal after every kind of end. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { HistoryAnswer } from '../../../src/view/answers/history-answer.js';
import { start, startTransferSource, temporaryDirectory, until } from '../../cli/command.js';
import { hasScript, MOUSE_OFF, onRings, ringsAtWork, Terminal } from './terminal.js';

const END = '\x1b[F';

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
    const colour = /\x1b\[[1-9][\d;]*m/; // eslint-disable-line no-control-regex
    // Node shows no colours in a terminal of continuous integration.
    const coloured = new Terminal(`--dir ${ringsAtWork()}`, { NO_COLOR: undefined, CI: undefined });
    await coloured.shows(colour);
    coloured.type('q');
    await coloured.after();
    const plain = await onRings('', { NO_COLOR: '1' });
    plain.type('q');
    await plain.after();
    expect(plain.text).not.toMatch(colour);
  });

  it('shows time by size, also if it is opened while top is paused', async () => {
    const terminal = await onRings();
    terminal.type('p');
    await terminal.shows(/PAUSED/);
    terminal.type('b');
    await terminal.shows(/agent-0 +tx/);
    terminal.type('mm');
    await terminal.shows(/TIME BY SIZE {2}time/);
    terminal.type('q');
    expect(await terminal.after()).toMatchObject({ code: 0, restored: true });
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
    // Twice on the first row, below the advice on failed transfers: its line counts from 1.
    await terminal.shows(/TRANSFERS FAIL[^]*log has each failure/);
    terminal.type('\x1b[<0;4;9M\x1b[<0;4;9m\x1b[<0;');
    terminal.type('4;9M\x1b[<0;4;9m');
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

/** `nixl-otel run`: the report against what the command itself says that it moved, exit codes, signals, and the directory. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { reportProblem } from '../../../src/report/report-problem.js';
import type { ReportedAgent, RunReport } from '../../../src/report/run-report.js';
import { MAIN, run, RunningCommand, start, temporaryDirectory, TRANSFER_SOURCE, until } from '../command.js';
import { MAY_BE_NOBODY, startAsNobody } from '../../support/as-nobody.js';
import { fillUp, MAY_MOUNT, smallTmpfs } from '../../support/small-tmpfs.js';
import { openRing, RingWriter } from '../../../src/shm-bridge/index.js';
import { pushAll } from '../../support/rings.js';
import { startOtlpReceiver } from '../../support/otlp-receiver.js';

interface Totals {
  agents: {
    agent: string;
    written: number;
    unflushed: number;
    events: Record<string, { count: string; sum: string } | undefined>;
  }[];
}

const MEMORY_REGISTERED = { type: 4, value: 4096n };
const MEMORY_DEREGISTERED = { type: 5, value: 4096n };
/** Events of a transfer, times in microseconds. */
const transfer = (postUs: bigint, us: bigint) => [
  { type: 7, value: postUs },
  { type: 6, value: us },
  { type: 0, value: 1024n },
];

const RUN_DIRECTORY = /nixl-otel-run-\w+/;

/** Runs transfer-source below `run` in a directory of its own. */
async function moved(flags: readonly string[], runFlags: readonly string[] = []) {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'report.json');
  const { code, stdout, stderr } = await run([
    ...['run', '--tmpfs', directory, '--report', file, ...runFlags, '--', TRANSFER_SOURCE, ...flags],
  ]);
  expect(code, stderr).toBe(0);
  return { totals: JSON.parse(stdout) as Totals, report: reportIn(file), stderr, directory };
}

/** Runs `script` below `run` below the shell `outer`, in a terminal, and does `steps` there: Python, with until(bytes) and `fd`. */
async function inTerminal(steps: string, outer: string, script: string) {
  const program = `
import os, pty, sys, termios
pid, fd = pty.fork()
if pid == 0:
    os.execvp('sh', ['sh', '-c', sys.argv[1], 'sh', *sys.argv[2:]])
text = b''
def until(word):
    global text
    while word not in text:
        text += os.read(fd, 1000)
${steps}`;
  const words = ['-c', program, outer, process.execPath, MAIN, 'run', '--', 'sh', '-c', script];
  const { code, stdout, stderr } = await new RunningCommand('python3', words).ended;
  return { code, stdout, stderr };
}

function reportIn(file: string): RunReport {
  const json: unknown = JSON.parse(readFileSync(file, 'utf8'));
  expect(reportProblem(json)).toBeUndefined();
  return json as RunReport;
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
const transfersIn = (agent: ReportedAgent): number =>
  sum([...agent.tx.classes, ...agent.rx.classes].map(({ transfers }) => transfers));

/** Compares all that the program says of its agents with the report. */
function expectAgreement({ totals, report }: { totals: Totals; report: RunReport }): void {
  expect(report.agents.map(({ agent }) => agent).sort()).toEqual(totals.agents.map(({ agent }) => agent).sort());
  for (const { agent: name, written, events } of totals.agents) {
    const agent = report.agents.find((one) => one.agent === name)!;
    const of = (event: string): number => Number(events[event]?.sum ?? 0);
    expect({
      written: agent.events,
      tx: [agent.tx.transfers, agent.tx.bytes],
      rx: [agent.rx.transfers, agent.rx.bytes],
      errors: sum(agent.errors),
      registered: agent.registeredBytes,
    }).toEqual({
      written,
      tx: [of('agent_tx_requests_num'), of('agent_tx_bytes')],
      rx: [of('agent_rx_requests_num'), of('agent_rx_bytes')],
      errors: sum(Object.keys(events).map((event) => (event.startsWith('agent_err_') ? of(event) : 0))),
      registered: of('agent_memory_registered'),
    });
    const { firstTransfer, tx, rx, line } = agent;
    expect(transfersIn(agent) + 1).toBe(tx.transfers + rx.transfers);
    const timesUs = sum([...tx.classes, ...rx.classes].map(({ timeSumUs }) => timeSumUs)) + firstTransfer!.timeUs;
    expect(timesUs).toBe(of('agent_xfer_time'));
    const bytes = sum([...tx.classes, ...rx.classes].map((one) => one.bytes)) + firstTransfer!.bytes;
    expect(bytes).toBe(tx.bytes + rx.bytes);
    expect([sum(line!.txBytes), sum(line!.rxBytes)]).toEqual([tx.bytes, rx.bytes]);
    expect(sum(line!.transfers)).toBe(tx.transfers + rx.transfers);
  }
}

describe('the report of a run', () => {
  it('equals to the unit what agents of several processes moved, and leaves nothing behind', async () => {
    const all = await moved(['--agents=3', '--processes=3', '--transfers=800', '--rate=0', '--errors=3']);
    expectAgreement(all);
    const { report, stderr, directory } = all;
    expect(report.run).toMatchObject({ exitCode: 0, bufferSlots: expect.any(Number) as number, flushIntervalMs: 10 });
    expect(report.run.endMs!).toBeGreaterThan(report.run.beginMs);
    expect(report.agents.map(({ life }) => life)).toEqual(['dead', 'dead', 'dead']);
    expect(report.agents.every(({ memoryPeakBytes }) => memoryPeakBytes! > 0)).toBe(true);
    const sliced = report.slices!.flatMap(({ tx, rx }) => [...tx, ...rx]);
    expect(sum(sliced.map(({ transfers }) => transfers))).toBe(report.totals.txTransfers + report.totals.rxTransfers);
    expect(stderr).toContain('agent-0 tx: time by size');
    expect(
      stderr
        .split('\n')
        .filter((line) => !line.startsWith('nixl-otel: ') && line.length > 80 && line.trim().includes(' ')),
    ).toEqual([]);
    expect(readdirSync(directory)).toEqual(['report.json']);
  });

  it('has five million events', async () => {
    // On a busy machine the collector may come too late for a million slots: then the agent would lose events.
    const flags = ['--transfers=1250000', '--rate=0', '--copy-free', '--staging=0', '--sizes=4k:1', '--wait-for-room'];
    const all = await moved(flags);
    expectAgreement(all);
    expect(all.report.agents[0]!.events).toBe(5_000_002);
    expect(all.stderr).toMatch(/Loss\n {2}Nothing was lost|ended without a rest/);
  });

  it('says what may be missing of agents that end without a rest', async () => {
    const { totals, report, stderr } = await moved(['--seconds=0.5', '--rate=5000', '--copy-free', '--no-final-flush']);
    expect(totals.agents[0]!.unflushed).toBeGreaterThan(0);
    expect(report.agents[0]!.events).toBe(totals.agents[0]!.written);
    expect(report.agents[0]!.mayMissMs).toBe(10);
    expect(stderr).toContain('up to 10 ms before its end may be');
    expect(stderr).not.toContain('Nothing was lost.');
  });

  it('counts what a process gave its ring that was killed with -9', async () => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'report.json');
    const script = `"$1" --seconds 0 --rate 3000 --copy-free --ready --name doomed > "$2" & until grep -q ready "$2"; do :; done; "$1" --transfers 500 --rate 0; kill -9 $!; wait $!; exit 3`;
    const args = ['sh', '-c', script, 'sh', TRANSFER_SOURCE, path.join(directory, 'out')];
    const { code } = await run(['run', '--tmpfs', directory, '--report', file, '--', ...args]);
    expect(code).toBe(3);
    const { agents } = reportIn(file);
    const doomed = agents.find(({ agent }) => agent === 'doomed-0')!;
    expect(agents).toHaveLength(2);
    expect(doomed).toMatchObject({ life: 'dead', mayMissMs: 10 });
    expect(doomed.tx.transfers).toBeGreaterThan(0);
    expect(sum(doomed.line!.transfers)).toBe(doomed.tx.transfers + doomed.rx.transfers);
  });

  it('says what to check where there was no agent', async () => {
    const { code, stderr } = await run(['run', '--', 'true']);
    expect(code).toBe(0);
    expect(stderr).toContain('No NIXL agent wrote a ring.');
  });

  it('overrules variables and the file of NIXL that would keep agents from their rings, one line each', async () => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'nixl.cfg');
    writeFileSync(file, 'NIXL_TELEMETRY_ENABLED_METRICS = "agent_tx_bytes"\nNIXL_TELEMETRY_EXPORTER = "otlp"\n');
    const { code, stdout, stderr } = await run(['run', '--', 'sh', '-c', 'env | grep NIXL_TELEMETRY_ | sort'], {
      NIXL_CONFIG_FILE: file,
      NIXL_TELEMETRY_ENABLE: 'n',
      NIXL_TELEMETRY_EXPORTER: 'prometheus',
      NIXL_TELEMETRY_DIR: '/dev/shm/nixl',
    });
    expect(code).toBe(0);
    expect(stdout.replace(/\/\S+nixl-otel-run-\w+/, 'OWN').split('\n')).toMatchObject([
      expect.stringMatching(/^NIXL_TELEMETRY_BUFFER_SIZE=\d+$/) as string,
      'NIXL_TELEMETRY_DIR=OWN/rings',
      'NIXL_TELEMETRY_ENABLE=y',
      'NIXL_TELEMETRY_ENABLED_METRICS=*',
      'NIXL_TELEMETRY_EXPORTER=BUFFER',
      'NIXL_TELEMETRY_RUN_INTERVAL=10',
      '',
    ]);
    const warnings = stderr.split('\n').filter((line) => line.includes('is overruled'));
    expect(warnings.filter((line) => line.startsWith('nixl-otel: warning: '))).toHaveLength(4);
  });

  it('is written as Markdown and as metrics, and a file that cannot be written fails the run', async () => {
    const directory = temporaryDirectory();
    const [markdown, metrics] = ['report.md', 'nixl.prom'].map((name) => path.join(directory, name));
    await moved(['--transfers=50', '--rate=0', '--sizes=4k:1'], ['--report', markdown!, '--report', metrics!]);
    expect(readFileSync(markdown!, 'utf8')).toMatch(/^## nixl-otel run on .*\n[^]*\n\| AGENT \| (PID \| )?DIR \|/);
    const text = readFileSync(metrics!, 'utf8');
    const bytes = [...text.matchAll(/^agent_[tr]x_bytes_total\{.*\} (\d+)$/gm)].map(([, value]) => Number(value));
    expect(sum(bytes)).toBe(50 * 4096);
    const failed = await run(['run', '--report', '/proc/report.json', '--', 'true']);
    expect(failed.code).toBe(125);
    expect(failed.stderr).toContain('/proc/report.json cannot be written');
  });

  it('is pushed by OTLP, whole at the end', async () => {
    const receiver = await startOtlpReceiver();
    const { report } = await moved(
      ['--transfers=300', '--rate=0'],
      ['--exporter', 'otlp', '--otlp-endpoint', receiver.url],
    );
    const bytes = receiver.points().filter(({ metric }) => /^agent_[tr]x_bytes_total$/.test(metric));
    expect(sum(bytes.map(({ value }) => Number(value)))).toBe(report.totals.txBytes + report.totals.rxBytes);
  });
});

describe('the command of a run', () => {
  it.each([
    [['sh', '-c', 'exit 7'], 7],
    [['sh', '-c', 'kill -TERM $$'], 143],
    [['sh', '-c', 'kill -9 $$'], 137],
    [['nixl-otel-no-such-command'], 127],
    [['/etc/passwd'], 126],
    [['sh', '-c', 'exec <&- >&- 2>&-; exit 4'], 4],
  ])('gives its exit code as a shell has it: %j', async (command, code) => {
    expect((await run(['run', '--', ...command])).code).toBe(code);
  });

  it('gets SIGTERM and SIGHUP once, and SIGINT of the terminal alone', async () => {
    const script = `trap 'echo term' TERM; trap 'echo hup' HUP; trap 'echo int; exit 9' INT; echo ready; while :; do sleep 0.05; done`;
    const running = start(['run', '--', 'sh', '-c', script]);
    await running.says(/ready/);
    running.child.kill('SIGINT'); // to run alone: it must not end
    running.child.kill('SIGTERM');
    await running.says(/term/);
    running.child.kill('SIGHUP');
    await running.says(/hup/);
    const children = readFileSync(`/proc/${running.child.pid}/task/${running.child.pid}/children`, 'utf8');
    process.kill(Number(children.trim().split(' ')[0]), 'SIGINT');
    const { code, stdout } = await running.ended;
    expect({ code, stdout }).toEqual({ code: 9, stdout: 'ready\nterm\nhup\nint\n' });
  });

  it('has the terminal: it reads from it, gets its Ctrl-C, and keeps the settings that it makes', async () => {
    const steps = `
until(b'name?')
os.write(fd, b'Ada\\n')
until(b'hello Ada')
os.write(fd, b'\\x03')
until(b'interrupted')
until(b'shell saw 6')
print('echo', bool(termios.tcgetattr(fd)[3] & termios.ECHO))
`;
    const script = `trap 'echo interrupted; exit 6' INT; stty -echo; echo 'name?'; read name; echo "hello $name"; while :; do sleep 0.05; done`;
    const outer = `trap : INT; "$@"; echo "shell saw $?"; sleep 60`;
    expect(await inTerminal(steps, outer, script)).toEqual({ code: 0, stdout: 'echo False\n', stderr: '' });
  });

  it('stops at Ctrl-Z and goes on, with its command', async () => {
    const steps = `
until(b'ready')
os.write(fd, b'\\x1a')
until(b'shell saw 148')
os.write(fd, b'go on\\n')
until(b'continued')
os.write(fd, b'\\x03')
until(b'then 6')
`;
    const script = `trap 'exit 6' INT; trap 'echo continued' CONT; echo ready; while :; do sleep 0.05; done`;
    const outer = `set -m; "$@"; echo "shell saw $?"; read line; fg; echo "then $?"; sleep 60`;
    expect(await inTerminal(steps, outer, script)).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

describe('the directory of a run', () => {
  it('stays after a kill, and report tells what it has', async () => {
    const directory = temporaryDirectory();
    const out = path.join(directory, 'out');
    const script = `"$1" --transfers 400 --rate 0 > "$2"; echo moved; exec sleep 60`;
    const running = start(['run', '--tmpfs', directory, '--', 'sh', '-c', script, 'sh', TRANSFER_SOURCE, out]);
    await running.says(/moved/);
    const totals = JSON.parse(readFileSync(out, 'utf8')) as Totals;
    const children = readFileSync(`/proc/${running.child.pid}/task/${running.child.pid}/children`, 'utf8');
    running.child.kill('SIGKILL');
    for (const pid of children.trim().split(' ')) process.kill(Number(pid), 'SIGKILL');
    await running.ended;
    const own = readdirSync(directory).find((name) => RUN_DIRECTORY.test(name))!;
    const file = path.join(directory, 'report.json');
    const { code, stdout } = await run(['report', path.join(directory, own), '--report', file]);
    expect(code).toBe(0);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('its end was not seen');
    const report = reportIn(file);
    expect(report.run.command.slice(0, 2)).toEqual(['sh', '-c']);
    expect(report.agents[0]!.events).toBe(totals.agents[0]!.written);
    expect((await run(['report', file])).stdout).toContain('agent-0 tx: time by size');
    // The same again: report leaves the state.
    const again = await run(['report', path.join(directory, own), '--report', file]);
    expect(again.code).toBe(0);
    expect(reportIn(file).totals).toEqual(report.totals);
  });

  it.each([
    [0, { memoryPeakBytes: 4096, firstTransfer: { direction: 'tx', bytes: 1024, timeUs: 7, postTimeUs: 5 } }],
    [2, {}],
  ])('has the first transfer and the most memory, unless events were drained before: %d', async (drained, told) => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'agent-0');
    const ring = new RingWriter(file, { wireVersion: 4 });
    pushAll(ring, [MEMORY_REGISTERED, MEMORY_DEREGISTERED, ...transfer(5n, 7n), ...transfer(1n, 2n)]);
    ring.close();
    if (drained > 0) {
      const other = openRing(file);
      expect(other.drain(drained)).toHaveLength(drained);
      other.close();
    }
    const [report, metrics] = ['report.json', 'report.prom'].map((name) => path.join(temporaryDirectory(), name));
    expect((await run(['report', directory, '--report', report!, '--report', metrics!])).code).toBe(0);
    const { memoryPeakBytes, firstTransfer } = reportIn(report!).agents[0]!;
    expect({ memoryPeakBytes, firstTransfer }).toEqual(told);
    expect(readFileSync(metrics!, 'utf8')).toMatch(/^agent_tx_bytes_total\{.*\} 2048$/m);
  });

  it('stays while an agent outlives the command', async () => {
    const directory = temporaryDirectory();
    const pidFile = path.join(directory, 'pid');
    const script = `"$1" --seconds 0 --ready > "$2.out" 2>&1 & echo $! > "$2"; until grep -q ready "$2.out"; do :; done`;
    const words = ['sh', '-c', script, 'sh', TRANSFER_SOURCE, pidFile];
    const { code, stderr } = await run(['run', '--tmpfs', directory, '--wait-for-agents', '100', '--', ...words]);
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
    expect(code).toBe(0);
    expect(stderr).toContain('still ran at the time of this report');
    const own = RUN_DIRECTORY.exec(stderr)![0];
    expect(existsSync(path.join(directory, own, 'rings/agent-0'))).toBe(true);
  });

  it('is one of its own for each of two runs at a time', async () => {
    const words = ['--', TRANSFER_SOURCE, '--transfers=300', '--rate=0'];
    const directory = temporaryDirectory();
    const files = ['a.json', 'b.json'].map((name) => path.join(directory, name));
    await Promise.all(files.map((file) => run(['run', '--tmpfs', directory, '--report', file, ...words])));
    for (const file of files) expect(reportIn(file).agents.map((one) => one.agent)).toEqual(['agent-0']);
    expect(readdirSync(directory).sort()).toEqual(['a.json', 'b.json']);
  });

  it('is refused where nothing can be written, before the command starts', async () => {
    const missing = await run(['run', '--tmpfs', '/nixl-otel-no-such-place', '--', 'echo', 'started']);
    expect(missing).toMatchObject({ code: 125, stdout: '' });
    expect(missing.stderr).toContain('no place for a directory of rings: /nixl-otel-no-such-place cannot be used');
  });

  it.runIf(MAY_MOUNT)('is not on a tmpfs without room', async () => {
    const place = smallTmpfs('9m');
    fillUp(place, 2 ** 20);
    const { code, stderr } = await run(['run', '--tmpfs', place, '--', 'true']);
    expect({ code, stderr }).toMatchObject({ code: 125, stderr: expect.stringContaining('free') as string });
  });

  it.runIf(MAY_MOUNT)('has small rings on a small tmpfs', async () => {
    const file = path.join(temporaryDirectory(), 'report.json');
    const words = ['--', TRANSFER_SOURCE, '--transfers=300', '--rate=0'];
    await run(['run', '--tmpfs', smallTmpfs('20m'), '--report', file, ...words]);
    expect(reportIn(file).run.bufferSlots).toBe(8192);
    expect(reportIn(file).totals.txTransfers + reportIn(file).totals.rxTransfers).toBe(300);
  });

  it.runIf(MAY_BE_NOBODY)('belongs to the user of the run', async () => {
    const place = temporaryDirectory();
    mkdirSync(path.join(place, 'open'));
    chmodSync(place, 0o755);
    chmodSync(path.join(place, 'open'), 0o777);
    const words = ['sh', '-c', 'stat -c %u:%a "$NIXL_TELEMETRY_DIR"'];
    const { code, stdout } = await startAsNobody(['run', '--tmpfs', path.join(place, 'open'), '--', ...words]).ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '65534:700\n' });
    await until(() => readdirSync(path.join(place, 'open')).length === 0);
  });
});

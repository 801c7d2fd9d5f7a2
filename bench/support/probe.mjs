// `node --import probe.mjs ...` with an IPC channel: measures its process when the parent asks. CPU time is the kernel's,
// in nanoseconds: Node 20 has no process.threadCpuUsage().
import { readdirSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const onCpuMs = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
const wholeCpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** CPU time of the collector's thread, and how often it has waited; 0 while there is none. */
function collector() {
  const threads = readdirSync('/proc/self/task').map((thread) => `/proc/self/task/${thread}`);
  const own = threads.find((thread) => readFileSync(`${thread}/comm`, 'utf8') === 'nixl-otel\n');
  if (own === undefined) return { ms: 0, waits: 0 };
  const waits = /^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync(`${own}/status`, 'utf8'));
  return { ms: Number(readFileSync(`${own}/schedstat`, 'utf8').split(' ')[0]) / 1e6, waits: Number(waits[1]) };
}

/** Shares of one core, in per cent, over the given time, and wake-ups per second. The search for the thread is not in them. */
async function cpu(ms) {
  const before = { collector: collector(), main: onCpuMs(), whole: wholeCpuMs(), at: performance.now() };
  await sleep(ms);
  const passed = performance.now() - before.at;
  const share = (spent) => (100 * spent) / passed;
  const [main, whole] = [onCpuMs(), wholeCpuMs()];
  const { ms: collectorMs, waits } = collector();
  return {
    mainCpu: share(main - before.main),
    cpu: share(whole - before.whole),
    collectorCpu: share(collectorMs - before.collector.ms),
    wakeUps: ((waits - before.collector.waits) * 1000) / passed,
  };
}

/** Delays of the event loop. Not measured together with the CPU: the histogram's timer itself costs some. */
async function delay(ms) {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  await sleep(ms);
  histogram.disable();
  return { delayP50Ms: histogram.percentile(50) / 1e6, delayP99Ms: histogram.percentile(99) / 1e6 };
}

/** Milliseconds that the event loop worked between begin() and end(): in all, and the most without a timer's turn. */
let before;
let blocks;
const TIMER_MS = 1;
async function begin() {
  blocks = monitorEventLoopDelay({ resolution: TIMER_MS });
  blocks.enable();
  await sleep(5 * TIMER_MS); // it measures from its first turn on
  before = performance.eventLoopUtilization();
}
async function end() {
  const { active } = performance.eventLoopUtilization(before);
  await sleep(2 * TIMER_MS);
  blocks.disable();
  return { activeMs: active, longestMs: Math.max(0, blocks.max / 1e6 - TIMER_MS) };
}

const answers = {
  cpu: ({ ms }) => cpu(ms),
  delay: ({ ms }) => delay(ms),
  descriptors: () => ({ count: readdirSync('/proc/self/fd').length }),
  rss: () => ({ rssMiB: process.memoryUsage.rss() / 2 ** 20 }),
  begin,
  end,
};
process.on('message', async (message) => {
  const answer = answers[message.ask];
  if (answer !== undefined) process.send({ answer: (await answer(message)) ?? null });
});

/** Workers that are terminated inside of a call of the native part: the process survives, and nothing of theirs stays. */
import { expect, test } from 'vitest';
import { dist, runProgram } from '../support/child.js';
import { temporaryDirectory } from '../support/live.js';

/** What a worker does until it is terminated, with `directory` and the path `own` of a ring of its own. */
const CALLS = {
  'opens and closes producers': `
    const { NixlMetricProducer } = await import(index);
    forEver(() => new NixlMetricProducer({ directories: directory }).close());`,
  'collects from agents': `
    const { NixlMetricProducer } = await import(index);
    const writer = new RingWriter(own);
    const producer = new NixlMetricProducer({ directories: directory });
    forEver(() => { writer.push({ name: 'hits', value: 1 }); return producer.collect(); });`,
  'opens and closes writers': `
    forEver(() => { const writer = new RingWriter(own); writer.push({ name: 'hits', value: 1 }); writer.close(); });`,
  'drains and observes a ring': `
    const writer = new RingWriter(own);
    forEver(() => {
      writer.push({ name: 'hits', value: 1 });
      const observer = observeRing(own);
      observer.observe();
      observer.close();
      const ring = openRing(own);
      ring.drain();
      ring.stats();
      ring.close();
    });`,
  'opens rings that do not exist': `
    forEver(() => { inspectRing(own); try { openRing(own); } catch {} });`,
};

/** Terminates workers one after another, each a little later in its calls. Prints the descriptors of rings that stay. */
const PROGRAM = `
  import { readdirSync, readlinkSync } from 'node:fs';
  import { Worker } from 'node:worker_threads';
  const source = \`
    import { parentPort, workerData } from 'node:worker_threads';
    const { directory, own, index, rings } = workerData;
    const { RingWriter, openRing, observeRing, inspectRing } = await import(rings);
    const forEver = async (call) => { await call(); parentPort.postMessage('calls'); for (;;) await call(); };
    \${arg.calls}\`;
  const url = new URL('data:text/javascript,' + encodeURIComponent(source));
  for (let i = 0; i < 10; i++) {
    const { directory, index, rings } = arg;
    const worker = new Worker(url, { workerData: { directory, own: directory + '/agent-' + i, index, rings } });
    await new Promise((calls, failed) => worker.once('message', calls).once('error', failed));
    for (let turns = i % 7; turns > 0; turns--) await new Promise((done) => setImmediate(done));
    await worker.terminate();
  }
  const open = readdirSync('/proc/self/fd').filter((fd) => {
    try { return readlinkSync('/proc/self/fd/' + fd).startsWith(arg.directory); } catch { return false; }
  });
  console.log('open: ' + open.length);`;

test.each(Object.entries(CALLS))(
  'a worker that %s is terminated again and again',
  { timeout: 120_000 },
  async (_, calls) => {
    const modules = { index: dist('index.js'), rings: dist('rings.js') };
    const ended = await runProgram(PROGRAM, { calls, directory: temporaryDirectory(), ...modules });
    expect(ended).toEqual({ code: 0, stdout: 'open: 0\n', stderr: '' });
  },
);

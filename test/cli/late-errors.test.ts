/** Errors that a user's exporters and builders throw outside of every call, in serve. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { LATE_THROWS, METHODS } from '../support/late-throws.js';
import { scrape, start, temporaryDirectory, until, valueOf } from './command.js';

function moduleOf(source: string, name = 'mine.mjs'): string {
  const file = path.join(temporaryDirectory(), name);
  writeFileSync(file, source);
  return file;
}

/** Makes a second output, which writes each of its exports into a file. */
function withWitness(): { file: string; exports: () => number } {
  const out = path.join(temporaryDirectory(), 'out');
  writeFileSync(out, '');
  const file = moduleOf(
    `import { appendFileSync } from 'node:fs';
     export default { export(m, done) { appendFileSync(${JSON.stringify(out)}, '.'); done({ code: 0 }) }, async forceFlush() {}, async shutdown() {} };`,
    'witness.mjs',
  );
  return { file, exports: () => readFileSync(out, 'utf8').length };
}

const FLAGS = ['--port', '0', '--export-interval', '50'];

describe('an error of an exporter outside of every call', () => {
  it('affects no other output, wherever it is thrown, and is one line of its exporter', async () => {
    const witness = withWitness();
    const late = LATE_THROWS.map(([, source], i) => moduleOf(source, `late-${i}.mjs`));
    const exporters = [...late, witness.file, 'prometheus'].join();
    const serve = start(['serve', '--dir', temporaryDirectory(), '--exporter', exporters, ...FLAGS]);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    const failures = (page: string, name: string) =>
      valueOf(page, 'nixl_exporter_failures_total', `exporter="${name}"`);
    for (const [i, [place]] of LATE_THROWS.entries()) {
      await serve.says(new RegExp(`error: exporter \\S+late-${i}.mjs threw outside of a call`));
      await until(async () => failures(await scrape(url!), `late-${i}`) > 0);
      expect(serve.stderr.match(new RegExp(`late-${i}.mjs threw outside of a call`, 'g')), place).toHaveLength(1);
    }
    const before = witness.exports();
    await until(() => witness.exports() > before + 1);
    expect(failures(await scrape(url!), 'witness')).toBe(0);
    const { code, stderr } = await serve.stop('SIGTERM');
    expect(code).toBe(0);
    expect(stderr.match(/threw outside of a call/g)).toHaveLength(LATE_THROWS.length);
  });

  it('is attributed by the file in its stack if the code runs in the context of another exporter', async () => {
    const file = moduleOf(`
      import { subscribe } from 'node:diagnostics_channel';
      subscribe('http.server.request.start', () => { throw new Error('late') });
      export default { ${METHODS} };`);
    const serve = start(['serve', '--dir', temporaryDirectory(), '--exporter', `${file},prometheus`, ...FLAGS]);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    expect(await scrape(url!)).toContain('nixl_collector_ticks');
    await serve.says(/error: exporter \S+mine.mjs threw outside of a call.*: late/);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  });

  it('is one line, also if it recurs', async () => {
    const file = moduleOf(`
      let thrown = 0;
      setInterval(() => { if (++thrown === 300) console.log('often'); throw new Error('again ' + thrown) }, 1);
      export default { ${METHODS} };`);
    const serve = start(['serve', '--dir', temporaryDirectory(), '--exporter', file]);
    await serve.says(/often/);
    const { code, stderr } = await serve.stop('SIGTERM');
    expect(code).toBe(0);
    expect(stderr.match(/again/g)).toHaveLength(1);
  });

  it('changes no exit code while serve ends', async () => {
    const file = moduleOf(`export default { export(m, done) { done({ code: 0 }) }, async forceFlush() {},
      async shutdown() { for (let ms = 0; ms < 60; ms++) setTimeout(() => { throw new Error('at the end') }, ms); } };`);
    const serve = start(['serve', '--dir', temporaryDirectory(), '--exporter', `${file},prometheus`, ...FLAGS]);
    await serve.says(/serves/);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  });
});

describe('an error of a builder outside of every call', () => {
  it.each([
    ['when it is loaded', `setTimeout(() => { throw new Error('late') }, 20);`, ''],
    ['when it makes its instruments', '', `setTimeout(() => { throw new Error('late') }, 1);`],
  ])('affects no other output: %s', async (_, atLoad, atCreate) => {
    const directory = temporaryDirectory();
    const builder = `${atLoad} module.exports = { name: 'mine', create() { ${atCreate} } };`;
    writeFileSync(path.join(directory, 'builder.cjs'), builder);
    const config = path.join(directory, 'config.yaml');
    writeFileSync(config, 'builders: [nixl, ./builder.cjs]\n');
    const serve = start(['serve', '--dir', temporaryDirectory(), '--config', config, '--port', '0']);
    await serve.says(/error: builder (mine|\S+builder.cjs) threw outside of a call/);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    expect(await scrape(url!)).toContain('nixl_collector_ticks');
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  });
});

describe('an error without an owner', () => {
  it('ends serve with exit code 1, after it has exported all events of the rings', async () => {
    const directory = temporaryDirectory();
    const out = path.join(temporaryDirectory(), 'out');
    const witness = moduleOf(`
      import { writeFileSync } from 'node:fs';
      export default { export({ scopeMetrics }, done) {
        const found = scopeMetrics.flatMap(({ metrics }) => metrics).find((m) => m.descriptor.name === 'agent_tx_bytes_total');
        writeFileSync(${JSON.stringify(out)}, String(found?.dataPoints[0].value)); done({ code: 0 }) },
        async forceFlush() {}, async shutdown() {} };`);
    // Preloaded, so that it is neither exporter nor builder.
    const preloaded = moduleOf(`process.on('SIGUSR2', () => { throw null });`, 'preloaded.mjs');
    const serve = start(['serve', '--dir', directory, '--exporter', `${witness},prometheus`, '--port', '0'], {
      NODE_OPTIONS: `--import ${preloaded}`,
    });
    await serve.says(/serves/);
    const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
    writer.push({ type: 0, value: 4096n });
    const { code, stderr } = await serve.stop('SIGUSR2');
    writer.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(/error: an error of no known exporter or builder: null; serve drains/);
    expect(readFileSync(out, 'utf8')).toBe('4096');
  });

  it('is not caught by other commands', async () => {
    const preloaded = moduleOf(`setTimeout(() => { throw new Error('not caught') }, 50);`, 'preloaded.mjs');
    const demo = start(['demo', '--port', '0'], { NODE_OPTIONS: `--import ${preloaded}` });
    expect(await demo.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('not caught') as string });
  });
});

/** serve names exporters that throw late, on each supported Node: they track contexts in different ways. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { MAIN, RunningCommand, temporaryDirectory } from '../cli/command.js';
import { CELLS, programsOf } from '../matrix/cells.js';
import { LATE_THROWS } from '../support/late-throws.js';

it.each(CELLS)('names each exporter that throws outside of a call, on Node $node', async (cell) => {
  const { node } = await programsOf(cell);
  const directory = temporaryDirectory();
  const modules = LATE_THROWS.map(([, source], i) => {
    const file = path.join(directory, `late-${i}.mjs`);
    writeFileSync(file, source);
    return file;
  });
  const exporters = [...modules, 'prometheus'].join(',');
  const flags = ['--dir', temporaryDirectory(), '--exporter', exporters, '--port', '0', '--export-interval', '50'];
  const serve = new RunningCommand(node, [MAIN, 'serve', ...flags]);
  for (const i of modules.keys()) await serve.says(new RegExp(`exporter \\S+late-${i}.mjs threw outside of a call`));
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
});

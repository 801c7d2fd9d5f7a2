/** Times to start: imports, --version, the first agents attached; beside an empty Node process. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inDirectory, MAIN, medianOf, nodeMs, round } from './support/measure.mjs';
import { pushTransfers, writersIn } from './support/transfers.mjs';

export const title = 'milliseconds of whole processes, and of attaching in a process that runs';

const at = (file) => new URL(`../dist/${file}`, import.meta.url).href;
const ATTACH = fileURLToPath(new URL('support/attach.mjs', import.meta.url));

export async function run({ quick }) {
  const runs = quick ? 1 : 9;
  const imported = (file) => ['--input-type=module', '-e', `import '${at(file)}'`];
  const processes = {
    'an empty Node process': ['-e', '0'],
    'import of the API of OpenTelemetry': ['--input-type=module', '-e', "import '@opentelemetry/api'"],
    'import of the SDK of OpenTelemetry': ['--input-type=module', '-e', "import '@opentelemetry/sdk-metrics'"],
    'import of the rings alone': imported('rings.js'),
    'import of the package': imported('index.js'),
    'nixl-otel --version': [MAIN, '--version'],
  };
  const rows = [];
  for (const [name, args] of Object.entries(processes))
    rows.push({ name, ms: await medianOf(runs, () => nodeMs(args)) });
  for (const agents of quick ? [1] : [1, 64, 512]) {
    const ms = await inDirectory((directory) => {
      const writers = writersIn(directory, agents);
      return medianOf(runs, () => {
        writers.forEach((writer) => pushTransfers(writer, 4)); // an empty ring is not exported
        return attachMs(directory, agents);
      });
    });
    rows.push({ name: `attaching to ${agents} agents, until they are exported`, ms });
  }
  return rows;
}

/** Measures in a separate process, after it has loaded the package. */
function attachMs(directory, agents) {
  return Number(execFileSync(process.execPath, [ATTACH, directory, String(agents)], { encoding: 'utf8' }));
}

export function caseOf({ name }) {
  return name;
}

export function columnsOf({ ms }) {
  return { ms: round(ms, 1) };
}

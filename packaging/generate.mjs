/**
 * Writes what follows from the tables of options, metrics, attributes, commands and findings: the option types, the
 * comments of constants, config.schema.json, the man page, the tables in docs/, semconv/, and the rules and dashboards in
 * deploy/. `npm run schema` runs it after each change of a table.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { alertsIn, monitoringFiles } from './monitoring/index.mjs';
import { withComments } from './reference/constants.mjs';
import { manPageOf } from './reference/man.mjs';
import { modelOf } from './reference/model.mjs';
import { tablesOf } from './reference/page.mjs';
import { registryOf } from './reference/registry.mjs';

const WIDTH = 120;

/** A Helm chart can read no files outside of its folder: it has copies of the rules. */
const RULES = 'deploy/prometheus';
const RULE_FILES = ['alerts.yml', 'recording-rules.yml'];
const CHART = 'deploy/helm/nixl-otel';

const SETTINGS = ['row', 'option-rows', 'serve-rows', 'file'];
const TABLES = {
  mapping: 'mapping/index',
  semconv: 'mapping/semconv',
  selfMetrics: 'instrumentation/self-metrics',
  serveMetrics: 'instrumentation/serve-metrics',
  serveState: 'instrumentation/serve-state',
  reservedNames: 'settings/reserved-names',
  builderRun: 'instrumentation/builders/builder-run',
  comprehensive: 'instrumentation/builders/comprehensive-builder',
  records: 'instrumentation/builders/records-builder',
  aboutPackage: 'ground/package',
  doctor: 'cli/doctor/findings',
  stops: 'cli/doctor/agent-stops',
  program: 'cli/program',
};

/** Loads the modules that have the tables. `load` takes the path of a module below src/, without its extension. */
export async function modulesFrom(load) {
  const settings = await Promise.all(SETTINGS.map((name) => load(`settings/${name}`)));
  const tables = Object.entries(TABLES).map(async ([name, module]) => [name, await load(module)]);
  return { ...Object.fromEntries(await Promise.all(tables)), settings: Object.assign({}, ...settings) };
}

export async function generated(modules, read) {
  const texts = {
    ...settingsTexts(modules.settings, read),
    ...referenceTexts(modules, read),
    'docs/doctor.md': between('findings', findingNames(modules.doctor.FINDINGS), read('docs/doctor.md')),
    'docs/troubleshooting.md': between('stops', stopsTable(modules.stops.AGENT_STOPS), read('docs/troubleshooting.md')),
    'man/nixl-otel.1': manPageOf(await modules.program.programReference(), modules.aboutPackage.PACKAGE_VERSION),
  };
  for (const file of RULE_FILES) texts[`${CHART}/files/${file}`] = texts[`${RULES}/${file}`];
  for (const [file, text] of Object.entries(texts)) {
    if (!file.endsWith('.1')) texts[file] = await format(text, { ...(await resolveConfig(file)), filepath: file });
  }
  return texts;
}

function referenceTexts(modules, read) {
  const model = modelOf(modules);
  const page = Object.entries(tablesOf(model)).reduce(
    (text, [name, table]) => between(name, table, text),
    read('docs/metrics.md'),
  );
  return {
    'docs/metrics.md': page,
    'src/mapping/semconv.ts': withComments(read('src/mapping/semconv.ts'), model),
    ...registryOf(model, modules.aboutPackage.PACKAGE_VERSION),
    ...monitoringFiles(model),
    'docs/dashboards.md': between('alerts', alertsIn(model), read('docs/dashboards.md')),
  };
}

function settingsTexts(settings, read) {
  const { OPTION_ROWS, ALL_SERVE_ROWS, SERVE_SECTION, configSchema } = settings;
  const { defaultText, flagName, sentences } = settings;
  const optionRows = Object.entries(OPTION_ROWS);

  const usualOf = (row) => {
    const usual = defaultText(row);
    return usual === undefined ||
      row.default === undefined ||
      row.defaultText !== undefined ||
      typeof row.default === 'number'
      ? (usual ?? '')
      : `\`${usual}\``;
  };
  const serviceVariables = ({ variables = [] }) => variables.filter(({ serveOnly }) => !serveOnly);
  const needOf = ({ usedBy = [] }) =>
    usedBy.length === 0 ? '' : `Needs the builder ${usedBy.map((name) => `\`${name}\``).join(' or ')}.`;
  const meaningOf = (row) => [sentences(row), needOf(row)].filter(Boolean).join(' ');
  const docOf = (row) => {
    const variables = serviceVariables(row).map(({ name }) => `the environment's ${name}`);
    const usual = [...variables, usualOf(row)].filter(Boolean);
    return usual.length === 0 ? meaningOf(row) : `${meaningOf(row)} Default: ${usual.join(', else ')}.`;
  };
  const property = ([name, row]) => `${comment(docOf(row))}\n  ${name}?: ${row.type ?? typeOf(row.shape.schema)};`;
  const properties = (constructor) =>
    optionRows
      .filter(([name, { only }]) => only === constructor && name !== 'enabled')
      .map(property)
      .join('\n');

  const flagCell = (row) => (row.flag === undefined ? '' : `\`${flagName(row)}\``);
  const variableTexts = ({ variables = [] }) =>
    variables.map(({ name, note, serveOnly }) => {
      const notes = [serveOnly ? '`serve` only' : undefined, note].filter(Boolean);
      return `\`${name}\`${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
    });
  const originCell = (one) => [...variableTexts(one), usualOf(one)].filter(Boolean).join(', ');
  const isOption = (name, one) => OPTION_ROWS[name] === one;
  const row = (...cells) => `| ${cells.join(' | ')} |`;
  const options = [
    row('Option', 'Variable, else default', 'Meaning'),
    row('---', '---', '---'),
    ...optionRows.map(([name, one]) => row(`\`${name}\``, originCell(one), sentences(one))),
  ].join('\n');
  const flagRows = Object.entries(ALL_SERVE_ROWS).filter(([, { flag }]) => flag !== undefined);
  const flagsOfOptions = flagRows
    .filter(([name, one]) => isOption(name, one))
    .map(([name, one]) => `${flagCell(one)}${flagName(one) === flagName({ flag: { name } }) ? '' : ` (\`${name}\`)`}`);
  const flags = [
    `[Options](configuration.md#options) that are flags: ${flagsOfOptions.join(', ')}.\n`,
    row('Flag', 'Variables, else default', 'Meaning'),
    row('---', '---', '---'),
    ...flagRows
      .filter(([name, one]) => !isOption(name, one))
      .map(([, one]) => row(flagCell(one), originCell(one), sentences(one))),
  ].join('\n');

  return {
    'src/settings/options.ts': Object.entries({
      NixlOptions: properties(undefined),
      NixlInstrumentationConfig: properties('instrumentation'),
      NixlMetricProducerOptions: properties('producer'),
    }).reduce(
      (text, [name, body]) =>
        text.replace(new RegExp(`(export interface ${name} [^{]*\\{\n)[^]*?\n\\}`), (_, head) => `${head}${body}\n}`),
      read('src/settings/options.ts'),
    ),
    'config.schema.json': JSON.stringify(configSchema(SERVE_SECTION)),
    'docs/configuration.md': between('options', options, read('docs/configuration.md')),
    'docs/settings.md': between('flags', flags, read('docs/settings.md')),
  };
}

function findingNames(findings) {
  const named = (wanted) =>
    Object.entries(findings)
      .filter(([, { status }]) => status === wanted)
      .map(([name]) => `\`${name}\``)
      .join(', ');
  return `- **Problems**: ${named('problem')}\n- **Notes**: ${named('note')}`;
}

function stopsTable(stops) {
  const rows = Object.values(stops).map(({ setting, raisesSince, before, words }) => {
    const releases = before === undefined ? 'all' : `since ${raisesSince}; earlier ones ${before}`;
    return `| ${setting} | ${releases} | \`${words.trim()}\` |`;
  });
  return ['| Setting | NIXL | Error |', '| --- | --- | --- |', ...rows].join('\n');
}

/** The TypeScript type that a JSON Schema implies. */
function typeOf({ type, items, anyOf }) {
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' | ');
  if (type === 'array') return `readonly ${typeOf(items)}[]`;
  return type === 'integer' ? 'number' : type;
}

function between(name, text, page) {
  const [begin, end] = [`<!-- ${name}: generated by npm run schema -->`, `<!-- end of ${name} -->`];
  if (!page.includes(begin)) throw new Error(`no place for ${name}`);
  return `${page.split(begin)[0]}${begin}\n\n${text}\n\n${end}${page.split(end)[1]}`;
}

/** A docstring inside an interface, in lines that fit. */
function comment(text) {
  if (text.length + 9 <= WIDTH) return `  /** ${text} */`;
  const lines = [''];
  for (const word of text.split(' ')) {
    if (lines.at(-1).length + word.length + 6 > WIDTH) lines.push('');
    lines.push(`${lines.pop()} ${word}`);
  }
  return `  /**\n${lines.map((line) => `   *${line}`).join('\n')}\n   */`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const modules = await modulesFrom((name) => import(`../dist/${name}.js`));
  const texts = await generated(modules, (file) => readFileSync(file, 'utf8'));
  for (const [file, text] of Object.entries(texts)) writeFileSync(file, text);
}

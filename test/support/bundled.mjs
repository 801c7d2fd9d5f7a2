// `node --experimental-vm-modules bundled.mjs URL`: evaluates the built modules as a bundler would leave them, with URL (or
// nothing at all) as `import.meta.url`, and prints what each entry point does at first use, as one line of JSON.
import { readFileSync } from 'node:fs';
import vm from 'node:vm';

const [, , given] = process.argv;
const dist = (file) => new URL(`../../dist/${file}`, import.meta.url).href;
const modules = new Map();

function moduleOf(specifier, referrer) {
  const isOwn = /^(\.|file:)/.test(specifier);
  const identifier = isOwn ? new URL(specifier, referrer).href : specifier;
  if (!modules.has(identifier)) modules.set(identifier, isOwn ? ownModule(identifier) : packageModule(identifier));
  return modules.get(identifier);
}

function ownModule(identifier) {
  return new vm.SourceTextModule(readFileSync(new URL(identifier), 'utf8'), {
    identifier,
    initializeImportMeta: (meta) => {
      if (given !== undefined) meta.url = given;
    },
    importModuleDynamically: (specifier, { identifier: referrer }) => evaluated(specifier, referrer),
  });
}

async function packageModule(name) {
  const namespace = await import(name);
  const names = Object.keys(namespace);
  return new vm.SyntheticModule(names, function () {
    for (const one of names) this.setExport(one, namespace[one]);
  });
}

async function evaluated(specifier, referrer) {
  const module = await moduleOf(specifier, referrer);
  if (module.status === 'unlinked') await module.link((name, { identifier }) => moduleOf(name, identifier));
  await module.evaluate();
  return module;
}

async function load(file) {
  return (await evaluated(dist(file))).namespace;
}

async function attempt(work) {
  try {
    return String(await work());
  } catch (error) {
    return `${error.name} ${error.code}: ${error.message}`;
  }
}

const rings = await load('rings.js');
const main = await load('index.js');
await load('register.js');
const program = await load('cli/program.js');
const config = await load('settings/file.js');
const result = {
  ring: await attempt(() => rings.openRing('/none')),
  producer: await attempt(() => new main.NixlMetricProducer({ directories: '/none' })),
  instrumentation: await attempt(() => typeof new main.NixlInstrumentation({ directories: '/none' }).processor),
  yaml: await attempt(() => config.readSettings(new URL('../../examples/attributes.yaml', import.meta.url).pathname)),
  help: await attempt(() => program.run(['config', 'schema', '--help'])),
  command: await attempt(() => program.run(['read', '/none'])),
};
process.stderr.write(`${JSON.stringify(result)}\n`);
process.exit(0);

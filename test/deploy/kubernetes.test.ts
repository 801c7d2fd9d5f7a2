/** The manifests of Kubernetes: their schema, and the programs that they start. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { ROOT, type RunningCommand, start, temporaryDirectory, until } from '../cli/command.js';
import { tool } from '../support/package.js';
import { type Manifest, MANIFESTS, parsed, type PodSpec, podSpecs } from './manifests.js';

const PACKAGES = {
  kubernetes: ['kubernetes-models@5.1.0', 'kubernetes-models'],
  operator: ['@kubernetes-models/prometheus-operator@6.0.0', '@kubernetes-models/prometheus-operator'],
} as const;

/** Module with the schema and the type of a kind. */
async function modelOf({ apiVersion, kind }: Manifest): Promise<string> {
  const [spec, name] = apiVersion.startsWith('monitoring.') ? PACKAGES.operator : PACKAGES.kubernetes;
  const manifest = await tool(spec, `${name}/package.json`);
  return path.join(path.dirname(manifest), apiVersion, `${kind}.js`);
}

function compile(source: string): string {
  const file = path.join(temporaryDirectory(), 'check.ts');
  writeFileSync(file, source);
  const flags = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext'];
  try {
    execFileSync(process.execPath, [path.join(ROOT, 'node_modules/typescript/bin/tsc'), ...flags, file]);
    return '';
  } catch (error) {
    return (error as { stdout: Buffer }).stdout.toString();
  }
}

/** Program with the fields of a manifest: the compiler refuses unknown ones, which a schema accepts. */
function fieldsOf(model: string, { kind, metadata, spec }: Manifest): string {
  return `import { ${kind} } from ${JSON.stringify(model)};
new ${kind}(${JSON.stringify({ metadata, spec })});
`;
}

test.each(MANIFESTS)('%s has the fields and values of its kind, and no others', async (file) => {
  const manifest = await parsed<Manifest>(file);
  const model = await modelOf(manifest);
  const module = (await import(model)) as Record<string, new (data: unknown) => { validate: () => void }>;
  const Model = module[manifest.kind]!;
  expect(() => new Model(manifest).validate()).not.toThrow();
  expect(compile(fieldsOf(model, manifest))).toBe('');
  const misspelt = JSON.parse(JSON.stringify(manifest).replace(/"(containerPort|targetLabel)"/g, '"$1s"')) as Manifest;
  expect(compile(fieldsOf(model, misspelt))).toContain('does not exist in type');
});

test('each nixl-otel that they start answers its probes', async () => {
  for (const { initContainers, containers } of await podSpecs()) {
    const container = [...initContainers, ...containers].find(({ name }) => name === 'nixl-otel')!;
    expect(container.ports).toEqual([{ name: 'metrics', containerPort: 9464 }]);
    const directory = temporaryDirectory();
    const env = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value]));
    const serve = start([...container.args!, '--port', '0'], { ...env, NIXL_TELEMETRY_DIR: directory });
    const [, port] = await serve.says(/serves http:\/\/0\.0\.0\.0:(\d+)\/metrics/);
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
    for (const probe of probes.filter((probe) => probe !== undefined)) {
      expect((await fetch(`http://127.0.0.1:${port}${probe.httpGet.path}`)).status).toBe(200);
      expect(probe.httpGet.port).toBe('metrics');
    }
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  }
});

test('an update of the DaemonSet starts the new pod of a node before it ends the old one', async () => {
  interface DaemonSet {
    updateStrategy: unknown;
    template: { spec: PodSpec & { hostNetwork?: boolean } };
  }
  const { updateStrategy, template } = (await parsed<Manifest>('kubernetes/daemonset.yaml')).spec as DaemonSet;
  expect(updateStrategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
  // The scheduler would place no second pod on the node.
  expect(template.spec.hostNetwork).toBeUndefined();
  const container = template.spec.containers.find(({ name }) => name === 'nixl-otel')!;
  expect(container.ports!.filter((port) => 'hostPort' in port)).toEqual([]);

  const directory = temporaryDirectory();
  const ring = path.join(directory, 'agent');
  const writer = new RingWriter(ring, { wireVersion: 4, capacity: 64 });
  writer.push({ type: 0, value: 1n });
  const pod = async (): Promise<{ serve: RunningCommand; says: () => Promise<Response> }> => {
    const serve = start([...container.args!, '--port', '0'], { NIXL_TELEMETRY_DIR: directory });
    const [, port] = await serve.says(/serves http:\/\/0\.0\.0\.0:(\d+)\/metrics/);
    return { serve, says: () => fetch(`http://127.0.0.1:${port}${container.readinessProbe!.httpGet.path}`) };
  };
  const bodyOf = async ({ says }: Awaited<ReturnType<typeof pod>>): Promise<string> => (await says()).text();
  const old = await pod();
  await until(async () => (await bodyOf(old)).startsWith('ready, 1 agents'));
  const surge = await pod();
  await until(async () => (await bodyOf(surge)).includes(`waits: "${ring}" is busy`));
  expect((await surge.says()).status).toBe(200);
  expect(await old.serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  await until(async () => (await bodyOf(surge)).trim() === 'ready, 1 agents');
});

test('all of them use the image of this version', async () => {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const images = (await podSpecs()).flatMap((spec) => [...spec.initContainers, ...spec.containers]);
  expect(new Set(images.map(({ image }) => image))).toEqual(new Set([`nixl-otel:${version}`]));
});

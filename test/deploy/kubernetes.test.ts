/** The manifests of Kubernetes: their schema, and the programs that they start. test/real/helm.test.ts renders them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { ROOT, type RunningCommand, start, temporaryDirectory, until } from '../cli/command.js';
import {
  allManifests,
  containersOf,
  type PodsSpec,
  type Manifest,
  onAnyPort,
  onlyOf,
  parsed,
  podSpecs,
  SERVES,
} from './manifests.js';
import { problemsOf } from './schemas.js';

const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };

test('they have the fields and values of their kinds, and no others', async () => {
  const manifests = allManifests();
  expect(await problemsOf(manifests)).toEqual([]);
  for (const field of ['containerPort', 'targetLabel', 'policyTypes'])
    expect(JSON.stringify(manifests)).toContain(field);
  const misspelt = JSON.stringify(manifests).replace(/"(containerPort|targetLabel|policyTypes)"/g, '"$1s"');
  const problems = (await problemsOf(JSON.parse(misspelt) as Manifest[])).join('');
  for (const field of ['containerPorts', 'targetLabels', 'policyTypess']) expect(problems).toContain(field);
});

test('each nixl-otel that they start answers its probes', async () => {
  const specs = podSpecs(allManifests());
  expect(specs).toHaveLength(2);
  for (const spec of specs) {
    const container = containersOf(spec).find(({ name }) => name === 'nixl-otel')!;
    expect(container.ports).toEqual([{ name: 'metrics', containerPort: 9464 }]);
    const env = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value]));
    const args = onAnyPort(container.args!);
    const serve = start(args, { ...env, NIXL_TELEMETRY_DIR: temporaryDirectory() });
    const [, port] = await serve.says(SERVES);
    const probes = [container.livenessProbe, container.readinessProbe].filter((probe) => probe !== undefined);
    for (const probe of probes) {
      expect((await fetch(`http://127.0.0.1:${port}${probe.httpGet.path}`)).status).toBe(200);
      expect(probe.httpGet.port).toBe(9464);
    }
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  }
});

test('an update of the DaemonSet starts the new pod of a node before it ends the old one', async () => {
  const { updateStrategy, template } = onlyOf<PodsSpec>(allManifests(), 'DaemonSet').spec;
  expect(updateStrategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
  // The scheduler would place no second pod on the node.
  expect(template.spec.hostNetwork).toBeUndefined();
  const container = template.spec.containers.find(({ name }) => name === 'nixl-otel')!;
  expect(container.ports!.filter((port) => 'hostPort' in port)).toEqual([]);

  const directory = temporaryDirectory();
  const ring = path.join(directory, 'agent');
  const writer = new RingWriter(ring, { wireVersion: 4, capacity: 64 });
  writer.push({ type: 0, value: 1n });
  const args = onAnyPort(container.args!);
  args[args.indexOf('--owner') + 1] = String(process.getuid!()); // the ring is of the user of this test
  const pod = async (): Promise<{ serve: RunningCommand; says: () => Promise<Response> }> => {
    const serve = start(args, { NIXL_TELEMETRY_DIR: directory });
    const [, port] = await serve.says(SERVES);
    return { serve, says: () => fetch(`http://127.0.0.1:${port}${container.readinessProbe!.httpGet.path}`) };
  };
  const bodyOf = async ({ says }: Awaited<ReturnType<typeof pod>>): Promise<string> => (await says()).text();
  const old = await pod();
  await until(async () => (await bodyOf(old)).startsWith('ready, 1 agent'));
  const surge = await pod();
  await until(async () => (await bodyOf(surge)).includes(`waits: "${ring}" is busy`));
  expect((await surge.says()).status).toBe(200);
  expect(await old.serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  await until(async () => (await bodyOf(surge)).trim() === 'ready, 1 agent');
});

test('no container delays the agents of its pod, and none has a token or an image without a registry', () => {
  const specs = podSpecs(allManifests());
  for (const spec of specs) {
    expect(spec).toMatchObject({ automountServiceAccountToken: false });
    for (const { image } of containersOf(spec)) expect(image).toBe(`registry.example.com/nixl-otel:${version}`);
  }
  // An init container without restartPolicy, a startup probe or a readiness probe delays the agents or the pod.
  const sidecars = specs.flatMap(({ initContainers = [] }) => initContainers).filter((one) => one.name === 'nixl-otel');
  expect(sidecars).toHaveLength(1);
  expect(sidecars[0]).toMatchObject({ restartPolicy: 'Always' });
  expect(Object.keys(sidecars[0]!)).not.toContain('startupProbe');
  expect(Object.keys(sidecars[0]!)).not.toContain('readinessProbe');
  // A restart of the sidecar makes the pod not ready: its probe must outlast a busy node.
  expect(sidecars[0]!.livenessProbe!.failureThreshold).toBe(6);
});

test('the chart has the version of the package', () => {
  expect(parsed('helm/nixl-otel/Chart.yaml')).toMatchObject({ version, appVersion: version });
});

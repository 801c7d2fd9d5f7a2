/** The Helm chart: what Helm renders from it, by the schemas of Kubernetes and with a serve that is started with it. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { MAIN, ROOT, start, startTransferSource, temporaryDirectory, until, valueOf } from '../cli/command.js';
import {
  at,
  type Container,
  containersOf,
  type Manifest,
  manifestsIn,
  onAnyPort,
  onlyOf,
  parsed,
  type PodSpec,
  podSpecs,
  SERVES,
} from '../deploy/manifests.js';
import { problemsOf } from '../deploy/schemas.js';
import { CHART, ChartTools, type Values } from './chart.js';

const tools = (await ChartTools.build())!; // without them, no test below runs

const image = { repository: 'registry.example.com/nixl-otel' };
const user = process.getuid!();
const sidecar = { image, mode: 'sidecar', sidecar: { demo: true } };
const dynamo = { ...sidecar, dynamo: true };
const severalUsers = { image, agents: { severalUsers: true, group: 1000650000 } };
const everything = {
  image: { ...image, tag: 'v1' },
  imagePullSecrets: [{ name: 'registry' }],
  args: ['--exporter', 'prometheus,otlp'],
  env: [{ name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: 'http://collector:4318' }],
  daemonset: {
    directory: '/run/nixl/rings',
    nodeSelector: { 'nvidia.com/gpu.present': 'true' },
    priorityClassName: 'system-node-critical',
    podAnnotations: { team: 'inference' },
  },
  serviceAccount: { annotations: { team: 'inference' } },
  podMonitor: { enabled: true, labels: { release: 'prometheus' } },
  prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
  networkPolicy: {
    enabled: true,
    from: [{ namespaceSelector: { matchLabels: { team: 'monitoring' } } }],
    egress: [{ ports: [{ protocol: 'TCP', port: 4318 }] }],
  },
};
const CASES: [string, Values][] = [
  ['a DaemonSet', { image }],
  ['a DaemonSet for agents of several users', severalUsers],
  ['a DaemonSet with all that there is', everything],
  ['a sidecar', { ...sidecar, podMonitor: { enabled: true } }],
  [
    'an ordinary container beside agents of root',
    { ...sidecar, sidecar: { demo: true, native: false }, agents: { user: 0 } },
  ],
  ['a sidecar for Dynamo', { ...dynamo, podMonitor: { enabled: true } }],
];

/** The block of YAML in a page that begins with a text. */
function yamlOf(page: string, begin: string): string {
  const blocks = [...readFileSync(path.join(ROOT, page), 'utf8').matchAll(/^```yaml\n([^]*?)^```$/gm)];
  return blocks.map(([, block]) => block!).find((block) => block.startsWith(begin))!;
}

interface PodTemplate {
  metadata: { labels: Record<string, string> };
  spec: PodSpec;
}

/** The pod of the only component of a DynamoGraphDeployment. */
function podTemplateOf({ spec }: Manifest): PodTemplate {
  return (spec as { components: { podTemplate: PodTemplate }[] }).components[0]!.podTemplate;
}

describe.runIf(tools !== undefined)('the chart', () => {
  test.each(CASES)('helm lint has no complaint about %s', (_, values) => {
    expect(tools.helm(['lint', '--strict', CHART], values)).toMatchObject({ status: 0, stderr: '' });
  });

  test('all that it renders has the fields and values of its kind, and no others', async () => {
    const manifests = CASES.flatMap(([, values]) => tools.manifests(values));
    const kinds = ['DaemonSet', 'NetworkPolicy', 'Pod', 'PodMonitor', 'PrometheusRule', 'ServiceAccount'];
    expect([...new Set(manifests.map(({ kind }) => kind))].sort()).toEqual(kinds);
    expect(await problemsOf(manifests)).toEqual([]);
  });

  test.each([
    ['daemonset', { image }, ['serviceaccount', 'daemonset']],
    ['sidecar', sidecar, ['demo']],
    ['podmonitor', { image, podMonitor: { enabled: true } }, ['podmonitor']],
    ['networkpolicy', { image, networkPolicy: { enabled: true } }, ['networkpolicy']],
  ])('deploy/kubernetes/%s.yaml is what it renders (npm run test:real -- helm -u)', async (name, values, templates) => {
    await expect(tools.render(values, templates)).toMatchFileSnapshot(at(`kubernetes/${name}.yaml`));
  });

  test.each([
    [{}, /image\.repository is not set: name registry and image/],
    [{ image: { repository: 'nixl-otel' } }, /\/image\/repository.*'nixl-otel' does not match pattern/],
    [{ image, agents: { user: 'root' } }, /\/agents\/user.*got string, want integer/],
    [{ image, mode: 'deployment' }, /\/mode.*must be one of 'daemonset', 'sidecar'/],
    [{ image, sideCar: {} }, /additional properties 'sideCar' not allowed/],
    [{ image, dynamo: true }, /dynamo: true needs mode: sidecar/],
    [{ image, sidecar: { demo: true } }, /sidecar\.demo: true needs mode: sidecar/],
    [{ ...sidecar, agents: { severalUsers: true } }, /agents\.severalUsers: true needs mode: daemonset/],
    [{ image, env: [{ name: 'NODE_NAME', value: 'a' }] }, /env has NODE_NAME, which the chart sets: leave it out/],
    [{ ...sidecar, env: [{ name: 'POD_NAME', value: 'a' }] }, /env has POD_NAME, which the chart sets/],
    [{ image, env: ['a', 'b'].map((value) => ({ name: 'X', value })) }, /env has X twice/],
    [{ ...sidecar, networkPolicy: { enabled: true } }, /networkPolicy\.enabled: true needs mode: daemonset/],
  ])('refuses %j with the value and what is allowed', (values, message) => {
    expect(() => tools.render(values)).toThrow(message);
  });

  test.each(['docs/kubernetes.md', 'docs/vllm.md', 'docs/dynamo.md'])('accepts the values of %s', (page) => {
    const values = parse(yamlOf(page, '# values.yaml')) as Values;
    expect(tools.manifests(values).map(({ kind }) => kind)).toContain('PodMonitor');
  });

  test('a variable of the values takes the place of that of the chart', () => {
    const env = [
      { name: 'OTEL_RESOURCE_ATTRIBUTES', value: 'team=inference,host.name=$(NODE_NAME)' },
      { name: 'NIXL_OTEL_HOSTNAME', value: 'mine' },
      { name: 'POD_NAME', value: 'of a DaemonSet' },
    ];
    const [spec] = podSpecs(tools.manifests({ image, env }));
    const { env: rendered = [] } = spec!.containers[0]!;
    expect(rendered.map(({ name }) => name)).toEqual([
      'NIXL_TELEMETRY_DIR',
      'NODE_NAME',
      ...env.map(({ name }) => name),
    ]);
    expect(rendered.slice(2)).toEqual(env);
  });

  test('refuses a native sidecar on a Kubernetes that has none', () => {
    const on = (version: string, values: Values): string =>
      tools.helm(['template', 'nixl-otel', CHART], values, version).stderr;
    expect(on('v1.28.0', sidecar)).toContain('sidecar.native: true needs Kubernetes 1.29');
    expect(on('v1.28.0', { ...sidecar, sidecar: { demo: true, native: false } })).toBe('');
  });

  test('the PrometheusRule has the groups of deploy/prometheus', () => {
    const files = readdirSync(at('prometheus')).filter((file) => /^(alerts|recording-rules).*\.yml$/.test(file));
    expect(files.length).toBeGreaterThan(1);
    const groups = files.flatMap((file) => parsed<{ groups: unknown[] }>(`prometheus/${file}`).groups);
    const rule = onlyOf<{ groups: unknown[] }>(tools.manifests(everything), 'PrometheusRule');
    expect(rule.spec.groups).toEqual(groups);
  });

  test('a sidecar meets the Pod Security Standard restricted, a DaemonSet not even baseline', () => {
    const verdictOf = (values: Values) => tools.podSecurity(podSpecs(tools.manifests(values)))[0]!;
    expect(verdictOf(sidecar)).toEqual({ level: 'restricted' });
    expect(verdictOf(dynamo)).toEqual({ level: 'restricted' });
    const { level, forbidden } = verdictOf({ image });
    expect(level).toBe('privileged');
    expect(forbidden).toBe('host namespaces (hostPID=true), hostPath volumes (volume "host")');
  });

  describe('nixl-otel as it is rendered', () => {
    const variablesOf = ({ env = [] }: Container): Record<string, string> =>
      Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
    const only = (spec: PodSpec, name: string): Container => containersOf(spec).find((one) => one.name === name)!;

    test.each([
      ['a sidecar', sidecar, 'agent', 'metrics'],
      ['a sidecar for Dynamo', dynamo, 'main', 'nixl'],
    ])(
      '%s serves what its agents move, on the port that the PodMonitor scrapes',
      async (_, values, agents, portName) => {
        const manifests = tools.manifests({ ...values, agents: { user }, podMonitor: { enabled: true } });
        const monitor = onlyOf<{ podMetricsEndpoints: { port: string }[] }>(manifests, 'PodMonitor');
        expect(monitor.spec.podMetricsEndpoints.map(({ port }) => port)).toEqual([portName]);
        const [spec] = podSpecs(manifests);
        // Prometheus would scrape the same address twice, if two containers declared the port.
        const ports = containersOf(spec!).flatMap(({ ports = [] }) => ports);
        expect(ports).toEqual([{ name: portName, containerPort: expect.any(Number) as number }]);
        const container = only(spec!, 'nixl-otel');
        const directory = temporaryDirectory();
        chmodSync(directory, 0o777); // as an emptyDir
        const rings = { NIXL_TELEMETRY_DIR: directory };
        const args = container.args!;
        expect(args[args.indexOf('--listen') + 1]).toBe(`:${ports[0]!.containerPort}`);
        const serve = start(onAnyPort(args), { ...variablesOf(container), ...rings });
        const [, port] = await serve.says(SERVES);
        const agent = only(spec!, agents);
        startTransferSource(agent.command!.slice(1), { ...variablesOf(agent), ...rings });
        const page = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        await until(async () => valueOf(await page(), 'agent_tx_bytes_total', 'agent-1') > 0);
        expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
        expect(serve.stderr).not.toContain('warning');
      },
    );

    const asUser = (id: number, capabilities: readonly string[] = []): string[] => [
      ...[`--reuid=${id}`, `--regid=${id}`, '--clear-groups', '--no-new-privs', '--inh-caps=-all'],
      ['--bounding-set=-all', ...capabilities.map((name) => `+${name.toLowerCase()}`)].join(','),
    ];
    const canBeOthers = user === 0 && existsSync('/usr/bin/setpriv');

    test.runIf(canBeOthers)('make-directory lets the agents write rings, and nobody else', () => {
      const parent = temporaryDirectory();
      chmodSync(parent, 0o1777); // as /dev/shm
      const { command } = containersOf(podSpecs(tools.manifests({ image }))[0]!)[0]!;
      const words = command!.map((word) => word.replace('/host/', `${parent}/`));
      for (let i = 0; i < 2; i += 1) {
        const { status, stderr } = spawnSync('setpriv', [...asUser(1000), ...words], { encoding: 'utf8' });
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      }
      const { mode, uid } = statSync(path.join(parent, 'nixl'));
      expect({ mode: (mode & 0o7777).toString(8), uid }).toEqual({ mode: '750', uid: 1000 });
    });

    test.runIf(canBeOthers)('beside agents of root sees their processes', async () => {
      const spec = podSpecs(tools.manifests({ ...sidecar, agents: { user: 0 } }))[0]!;
      const container = only(spec, 'nixl-otel') as Container & { securityContext: { capabilities: { add: string[] } } };
      const directory = temporaryDirectory();
      const { child } = startTransferSource(['--agents', '1', '--seconds', '0', '--dir', directory]);
      const listWith = (capabilities: readonly string[]): string => {
        const words = [process.execPath, MAIN, 'list', '--dir', directory, '--json'];
        return spawnSync('setpriv', [...asUser(0, capabilities), ...words], { encoding: 'utf8' }).stdout;
      };
      await until(() => listWith(container.securityContext.capabilities.add).includes(`"pid":${child.pid}`));
      const unseen = listWith([]);
      expect(unseen).toContain('"state":"ready"');
      expect(unseen).not.toContain('"pid"');
    });
  });

  test('a chart that depends on it includes the sidecar, and helm install prints it', () => {
    const [pod] = podSpecs(tools.manifests(dynamo));
    const directory = temporaryDirectory();
    mkdirSync(path.join(directory, 'templates'));
    cpSync(CHART, path.join(directory, 'charts/nixl-otel'), { recursive: true });
    writeFileSync(path.join(directory, 'Chart.yaml'), 'apiVersion: v2\nname: service\nversion: 1.0.0\n');
    const include = '{{- include "nixl-otel.sidecar" (index .Subcharts "nixl-otel") | nindent 2 }}';
    writeFileSync(path.join(directory, 'templates/pod.yaml'), `initContainers:\n  ${include}\n`);
    const [included] = manifestsIn(tools.render({ 'nixl-otel': dynamo }, ['pod'], directory)) as unknown as PodSpec[];
    expect(included!.initContainers).toEqual(pod!.initContainers);

    const copy = temporaryDirectory();
    cpSync(CHART, copy, { recursive: true });
    // Helm prints notes only with a cluster.
    renameSync(path.join(copy, 'templates/NOTES.txt'), path.join(copy, 'templates/notes.yaml'));
    const [notes] = manifestsIn(tools.render(dynamo, ['notes'], copy));
    const { metadata, spec } = podTemplateOf(notes!);
    const [main] = pod!.containers;
    expect(spec.containers).toMatchObject([{ name: 'main', env: main!.env }]);
    expect(spec.initContainers).toEqual(pod!.initContainers);

    const documented = podTemplateOf(manifestsIn(yamlOf('docs/dynamo.md', 'apiVersion: nvidia.com'))[0]!);
    const { initContainers, ...rest } = documented.spec;
    expect({ metadata, spec }).toMatchObject({ metadata: documented.metadata, spec: rest });
    const { env, ...container } = initContainers![0]!;
    expect(spec.initContainers![0]).toMatchObject(container);
    expect(spec.initContainers![0]!.env).toEqual(expect.arrayContaining(env!));
  });
});

/** The Helm chart: what Helm renders from it, by the schemas of Kubernetes and with a serve that is started with it. */
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT, start, startTransferSource, temporaryDirectory, until, valueOf } from '../cli/command.js';
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
  type PodsSpec,
  SERVES,
} from '../deploy/manifests.js';
import { problemsOf } from '../deploy/schemas.js';
import { CHART, ChartTools, type Values } from './chart.js';

const tools = (await ChartTools.build())!; // without them, no test below runs

const image = { repository: 'registry.example.com/nixl-otel' };
const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
const user = process.getuid!();
const sidecar = { image, mode: 'sidecar', sidecar: { demo: true } };
const dynamo = { image, dynamo: true, sidecar: { demo: true } };
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
  ['a sidecar with another port', { ...sidecar, port: 9470 }],
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

/** Returns what `helm install` prints, as a field of a manifest: Helm renders notes only with a cluster. */
function notesOf(values: Values): string {
  const copy = temporaryDirectory();
  cpSync(CHART, copy, { recursive: true });
  renameSync(path.join(copy, 'templates/NOTES.txt'), path.join(copy, 'notes.txt'));
  const manifest = 'notes: |\n{{ tpl (.Files.Get "notes.txt") . | indent 2 }}\n';
  writeFileSync(path.join(copy, 'templates/notes.yaml'), manifest);
  return (parse(tools.render(values, ['notes'], copy)) as { notes: string }).notes;
}

interface Monitor {
  selector?: { matchLabels: Record<string, string> };
  podMetricsEndpoints: { port: string; relabelings?: unknown[] }[];
}

/** The ports of containers that a PodMonitor scrapes. */
function targetsOf({ podMetricsEndpoints }: Monitor, containers: readonly Container[]): number[] {
  const names = podMetricsEndpoints.map(({ port }) => port);
  const ports = containers.flatMap(({ ports = [] }) => ports);
  return ports.filter(({ name }) => names.includes(name)).map(({ containerPort }) => containerPort);
}

/** Selection of Dynamo's PodMonitor `dynamo-worker` with `nixlTelemetry`, and labels that its operator adds to workers. */
const DYNAMO = {
  selector: {
    'nvidia.com/dynamo-component-type': ['worker', 'decode', 'prefill'],
    'nvidia.com/metrics-enabled': ['true'],
  },
  monitor: { podMetricsEndpoints: [{ port: 'system' }, { port: 'nixl' }] },
  labels: { 'nvidia.com/dynamo-component-type': 'decode', 'nvidia.com/metrics-enabled': 'true' },
  ports: [{ name: 'nixl', containerPort: 19090 }],
};

function dynamoSelects(labels: Record<string, string>): boolean {
  return Object.entries(DYNAMO.selector).every(([name, values]) => values.includes(labels[name]!));
}

interface Group {
  name: string;
  rules: { alert?: string; annotations?: Record<string, string> }[];
}

const groupsOf = (values: Values): Group[] =>
  onlyOf<{ groups: Group[] }>(tools.manifests(values), 'PrometheusRule').spec.groups;
const rulesOf = (values: Values) => groupsOf(values).flatMap(({ rules }) => rules);
const alertsOf = (values: Values) => rulesOf(values).flatMap(({ alert = [] }) => alert);

describe.runIf(tools !== undefined)('the chart', () => {
  test.each(CASES)('helm lint has no complaint about %s', (_, values) => {
    expect(tools.helm(['lint', '--strict', CHART], values)).toMatchObject({ status: 0, stderr: '' });
  });

  test('all that it renders has the fields and values of its kind, and no others', async () => {
    const manifests = CASES.flatMap(([, values]) => tools.manifests(values));
    const kinds = ['DaemonSet', 'Deployment', 'NetworkPolicy', 'PodMonitor', 'PrometheusRule', 'ServiceAccount'];
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

  test.each(['docs/kubernetes.md', 'docs/vllm.md', 'docs/dynamo.md'])('accepts the values of %s', (page) => {
    const values = parse(yamlOf(page, '# values.yaml')) as Values;
    expect(tools.manifests(values).map(({ kind }) => kind)).toContain('PodMonitor');
  });

  test('docs/kubernetes.md renders the PrometheusRule', () => {
    const [, command] = /^helm (template .*)$/m.exec(readFileSync(path.join(ROOT, 'docs/kubernetes.md'), 'utf8'))!;
    const words = command!.replace(' -f values.yaml', '').split(' ');
    const values = parse(yamlOf('docs/kubernetes.md', '# values.yaml')) as Values;
    const args = words.map((word) => (word.startsWith('deploy/') ? path.join(ROOT, word) : word));
    const { stdout, stderr } = tools.helm(args, values);
    expect({ stderr, kinds: manifestsIn(stdout).map(({ kind }) => kind) }).toEqual({
      stderr: '',
      kinds: ['PrometheusRule'],
    });
  });

  test('a variable of the values takes the place of that of the chart', () => {
    const env = [
      { name: 'OTEL_RESOURCE_ATTRIBUTES', value: 'team=inference,host.name=$(NODE_NAME)' },
      { name: 'NIXL_OTEL_HOSTNAME', value: 'mine' },
      { name: 'NIXL_OTEL_SYS_PATH', value: '/elsewhere' },
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

  test.each([
    ['a DaemonSet', { image }, 9464],
    ['a sidecar for Dynamo', dynamo, 19090],
    ['a DaemonSet with another port', { image, port: 9470 }, 9470],
    ['a sidecar with another port', { ...sidecar, port: 9470 }, 9470],
    ['a sidecar for Dynamo with another port', { ...dynamo, port: 9470 }, 9470],
  ])('%s listens on its port, and the probes and the PodMonitor find it', (_, values, port) => {
    const manifests = tools.manifests({ ...values, podMonitor: { enabled: true } });
    const containers = containersOf(podSpecs(manifests)[0]!);
    const { args, livenessProbe, readinessProbe } = containers.find(({ name }) => name === 'nixl-otel')!;
    expect(args!.slice(0, 3)).toEqual(['serve', '--listen', `:${port}`]);
    expect(livenessProbe!.httpGet.port).toBe(port);
    expect(readinessProbe?.httpGet.port ?? port).toBe(port);
    expect(targetsOf(onlyOf<Monitor>(manifests, 'PodMonitor').spec, containers)).toEqual([port]);
  });

  test('dynamo: true renders the same as with mode: sidecar', () => {
    expect(tools.render(dynamo)).toBe(tools.render({ ...dynamo, mode: 'sidecar' }));
  });

  test.each([
    ['a sidecar', sidecar, ['--owner', '1000']],
    ['a DaemonSet', { image, agents: { user: 1001 } }, ['--owner', '1001']],
    ['a DaemonSet for agents of several users', severalUsers, []],
  ])('%s reads only rings of its users', (_, values, owner) => {
    const containers = containersOf(podSpecs(tools.manifests(values))[0]!);
    const { args } = containers.find(({ name }) => name === 'nixl-otel')!;
    expect(args!.slice(3)).toEqual(owner);
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
    expect(groupsOf(everything)).toEqual(groups);
  });

  test('the PrometheusRule leaves out disabled alerts, by default those of sidecars', () => {
    const alerts = alertsOf({ image, prometheusRule: { enabled: true } });
    expect(alerts).toContain('NixlOtelAbsent');
    const besides = (...names: string[]) => alerts.filter((alert) => !names.includes(alert));
    const enabled = (values: Values) => ({ ...values, prometheusRule: { enabled: true } });
    expect(alertsOf(enabled(sidecar))).toEqual(besides('NixlOtelAbsent', 'NixlOtelSilent'));
    expect(alertsOf(enabled(dynamo))).toEqual(besides('NixlOtelAbsent', 'NixlOtelSilent'));
    const disabled = (...names: string[]) => ({ ...sidecar, prometheusRule: { enabled: true, disabled: names } });
    expect(alertsOf(disabled())).toEqual(alerts);
    expect(alertsOf(disabled('NixlAgentIdle', 'NixlNoAgents'))).toEqual(besides('NixlAgentIdle', 'NixlNoAgents'));
    expect(groupsOf(disabled(...alerts)).map(({ name }) => name)).not.toContain('nixl-otel-alerts');
  });

  test('prometheusRule.runbookBase takes the place of the address of each runbook', () => {
    const runbookBase = 'https://git.example.com/nixl-otel/blob/main/';
    const urls = rulesOf({ image, prometheusRule: { enabled: true, runbookBase } }).flatMap(({ alert, annotations }) =>
      alert === undefined ? [] : [[alert, annotations!['runbook_url']]],
    );
    expect(urls.length).toBeGreaterThan(10);
    for (const [alert, url] of urls) expect(url).toBe(`${runbookBase}docs/runbooks.md#${alert!.toLowerCase()}`);
  });

  test.each([
    ['29999ms', {}],
    ['29s', {}],
    ['1m', { args: ['--dead-ttl', '120000'] }],
    ['1m', { args: ['--dead-ttl=120000'] }],
    ['1m', { env: [{ name: 'NIXL_TELEMETRY_MP_STALE_TTL', value: '120' }] }],
  ])('the PodMonitor scrapes every %s, with %j', (interval, values) => {
    const manifests = tools.manifests({ image, ...values, podMonitor: { enabled: true, interval } });
    expect(onlyOf<Monitor>(manifests, 'PodMonitor').spec.podMetricsEndpoints).toMatchObject([{ interval }]);
  });

  test('a digest takes the place of the tag', () => {
    const [spec] = podSpecs(tools.manifests({ image: { ...image, digest } }));
    for (const one of containersOf(spec!)) expect(one.image).toBe(`${image.repository}@${digest}`);
  });

  test('the PodMonitor sets the label node', () => {
    const manifests = tools.manifests({ image, podMonitor: { enabled: true } });
    const [endpoint] = onlyOf<Monitor>(manifests, 'PodMonitor').spec.podMetricsEndpoints;
    expect(endpoint!.relabelings).toContainEqual({
      sourceLabels: ['__meta_kubernetes_pod_node_name'],
      targetLabel: 'node',
    });
  });

  test.each([
    ['agents of root', { image, agents: { user: 0 } }, { 'nixl-otel': ['SYS_PTRACE'] }],
    [
      'agents of several users',
      severalUsers,
      { 'nixl-otel': ['DAC_OVERRIDE', 'SYS_PTRACE'], 'make-directory': ['DAC_OVERRIDE'] },
    ],
    ['a sidecar beside agents of root', { ...sidecar, agents: { user: 0 } }, { 'nixl-otel': ['SYS_PTRACE'] }],
    ['a sidecar', sidecar, {}],
  ])('with %s only nixl-otel may inspect processes', (_, values, expected) => {
    interface Confined extends Container {
      securityContext: { capabilities: { drop: string[]; add?: string[] } };
    }
    const containers = containersOf(podSpecs(tools.manifests(values))[0]!) as Confined[];
    expect(containers).toHaveLength(2);
    for (const { securityContext } of containers) expect(securityContext.capabilities.drop).toEqual(['ALL']);
    const added = containers.flatMap(({ name, securityContext }) =>
      securityContext.capabilities.add === undefined ? [] : [[name, securityContext.capabilities.add]],
    );
    expect(Object.fromEntries(added)).toEqual(expected);
  });

  test.each([
    ['', 'agent', sidecar],
    [' for Dynamo', 'main', dynamo],
  ])('an ordinary sidecar%s comes before the agents, whose images take minutes', (_, agent, values) => {
    const ordinary = { ...values, sidecar: { demo: true, native: false } };
    const namesOf = ({ containers }: PodSpec): string[] => containers.map(({ name }) => name);
    expect(namesOf(podSpecs(tools.manifests(ordinary))[0]!)).toEqual(['nixl-otel', agent]);
    const [notes] = manifestsIn(notesOf(ordinary));
    const { spec } = values === dynamo ? podTemplateOf(notes!) : (notes as unknown as PodTemplate);
    expect(namesOf(spec)[0]).toBe('nixl-otel');
  });

  test('a sidecar meets the Pod Security Standard restricted, a DaemonSet not even baseline', () => {
    const verdictOf = (values: Values) => tools.podSecurity(podSpecs(tools.manifests(values)))[0]!;
    expect(verdictOf(sidecar)).toEqual({ level: 'restricted' });
    expect(verdictOf(dynamo)).toEqual({ level: 'restricted' });
    const { level, forbidden } = verdictOf({ image });
    expect(level).toBe('privileged');
    expect(forbidden).toBe(
      'host namespaces (hostPID=true), hostPath volumes (volumes "container-logs", "host-sys", "host")',
    );
  });

  describe('nixl-otel as it is rendered', () => {
    const variablesOf = ({ env = [] }: Container): Record<string, string> =>
      Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
    const only = (spec: PodSpec, name: string): Container => containersOf(spec).find((one) => one.name === name)!;

    test.each([
      ['a sidecar', sidecar, 'agent', 'metrics'],
      ['a sidecar with another port', { ...sidecar, port: 9470 }, 'agent', 'metrics'],
      ['a sidecar for Dynamo', dynamo, 'main', 'nixl'],
    ])(
      '%s serves what its agents move, on the port that the PodMonitor scrapes',
      async (_, values, agents, portName) => {
        const manifests = tools.manifests({ ...values, agents: { user }, podMonitor: { enabled: true } });
        const monitor = onlyOf<Monitor>(manifests, 'PodMonitor');
        expect(monitor.spec.podMetricsEndpoints.map(({ port }) => port)).toEqual([portName]);
        const [spec] = podSpecs(manifests);
        // Prometheus would scrape the same address twice, if two containers declared the port.
        const ports = containersOf(spec!).flatMap(({ ports = [] }) => ports);
        expect(ports).toEqual([{ name: portName, containerPort: expect.any(Number) as number }]);
        const container = only(spec!, 'nixl-otel');
        const directory = temporaryDirectory();
        chmodSync(directory, 0o1777); // as an emptyDir
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
  });

  test("either PodMonitor, Dynamo's or that of the chart, scrapes each worker with the sidecar once", () => {
    const manifests = tools.manifests({ ...dynamo, podMonitor: { enabled: true } });
    const { metadata, spec } = podTemplateOf(manifestsIn(notesOf(dynamo))[0]!);
    const worker = { ...DYNAMO.labels, ...metadata.labels };
    const containers = containersOf(spec).map((one) => (one.name === 'main' ? { ...one, ports: DYNAMO.ports } : one));
    const { args } = containers.find(({ name }) => name === 'nixl-otel')!;
    expect(args).toContain(':19090');

    expect(dynamoSelects(worker)).toBe(true);
    expect(targetsOf(DYNAMO.monitor, containers)).toEqual([19090]);
    const chart = onlyOf<Monitor>(manifests, 'PodMonitor').spec;
    expect(worker).toMatchObject(chart.selector!.matchLabels);
    expect(targetsOf(chart, containers)).toEqual([19090]);
    // No worker of Dynamo: only the chart's PodMonitor scrapes the pod of the demo.
    expect(dynamoSelects(onlyOf<PodsSpec>(manifests, 'Deployment').spec.template.metadata.labels)).toBe(false);
  });

  test.each([
    ['of one user', { image, agents: { user: 1001 } }, 'Start agents as user 1001, with'],
    ['of several users', severalUsers, 'Give the pods of agents the group 1000650000 (supplementalGroups), with'],
  ])('helm install says how to start agents %s', (_, values, text) => {
    const begin = `# nixl-otel runs on each node. ${text} the node's /dev/shm/nixl and\n`;
    const notes = notesOf(values);
    expect(notes).toContain(begin);
    expect(notes).toContain('NIXL_TELEMETRY_ENABLE=y NIXL_TELEMETRY_DIR=/dev/shm/nixl');
    expect(notes).toContain('violates PodSecurity "baseline:latest"');
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

    const [notes] = manifestsIn(notesOf(dynamo));
    const { metadata, spec } = podTemplateOf(notes!);
    expect(metadata.labels).toEqual({ 'nixl-otel/scrape': 'true' });
    const [main] = pod!.containers;
    expect(spec.containers).toMatchObject([{ name: 'main', env: main!.env }]);
    expect(spec.initContainers).toEqual(pod!.initContainers);
  });
});

// Compares what nixl_agent_info says of agents in pods with what Kubernetes says, on a real cluster. Applies kubernetes/daemonset.yaml
// and pods with agents in a namespace of its own, which it removes at the end. Needs the image of the manifest on the nodes, and
// the right to run pods with hostPID and hostPath.
//
//   node deploy/try-cluster.mjs [KUBECTL...]    KUBECTL: command and first arguments, by default kubectl
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const [KUBECTL = 'kubectl', ...FIRST] = process.argv.slice(2);
const NAMESPACE = 'nixl-otel-try';
const DAEMON_SET = readFileSync(path.join(import.meta.dirname, 'kubernetes/daemonset.yaml'), 'utf8');
const IMAGE = /image: (\S+)/.exec(DAEMON_SET)[1];
/** A pod or container starts within this time, also where the node first loads the image. */
const LIMIT_MS = 300_000;

function kubectl(args, input) {
  const stdio = ['pipe', 'pipe', 'inherit'];
  const all = [...FIRST, '--namespace', NAMESPACE, ...args];
  return execFileSync(KUBECTL, all, { input, stdio, encoding: 'utf8', maxBuffer: 2 ** 28 });
}
const apply = (text) => kubectl(['apply', '--filename', '-'], text);
const get = (...args) => JSON.parse(kubectl(['get', ...args, '--output', 'json']));

async function until(what, ask) {
  for (const end = Date.now() + LIMIT_MS; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 500))) {
    const answer = ask();
    if (answer) return answer;
  }
  throw new Error(`not within ${LIMIT_MS / 1000} s: ${what}`);
}

const RINGS = { name: 'rings', mountPath: '/nixl' };
const container = (name, command) => ({
  ...{ name, image: IMAGE, command, imagePullPolicy: 'IfNotPresent', volumeMounts: [RINGS] },
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
});
/** Names of rings must differ on the node: they begin with `prefix`. */
const agents = (name, prefix, count = 1) =>
  container(name, [
    'transfer-source',
    '--seconds',
    '0',
    '--rate',
    '5',
    '--dir',
    '/nixl',
    '--name',
    prefix,
    '--agents',
    `${count}`,
  ]);
const pod = (name, containers, initContainers = []) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
  spec: {
    ...{ containers, initContainers, automountServiceAccountToken: false, terminationGracePeriodSeconds: 1 },
    securityContext: {
      runAsUser: 1000,
      runAsGroup: 1000,
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumes: [{ name: RINGS.name, hostPath: { path: '/dev/shm/nixl', type: 'Directory' } }],
  },
});
const { spec: replica } = pod('', [agents('worker', 'replica-$(POD_NAME)')]);
replica.containers[0].env = [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }];

/** Pods as operators have them, and names at which the kubelet cuts its links' names within and before the container's ID. */
const PODS = [
  pod('plain', [agents('worker', 'plain', 2)]),
  pod('two-containers', [agents('rank-0', 'first'), agents('rank-1', 'second')]),
  pod('after-an-init-container', [agents('worker', 'after-init')], [container('prepare', ['true'])]),
  pod('name.with.dots', [agents('worker', 'dots')]),
  pod(`long-${'p'.repeat(145)}`, [agents(`engine-${'c'.repeat(33)}`, 'long')]),
  pod(`longer-${'p'.repeat(193)}`, [agents(`engine-${'c'.repeat(56)}`, 'longer')]),
  pod(`twins-${'p'.repeat(194)}`, [agents(`a-${'c'.repeat(61)}`, 'twin-a'), agents(`b-${'c'.repeat(61)}`, 'twin-b')]),
  {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'replicas' } },
    spec: {
      ...{ replicas: 3, selector: { matchLabels: { app: 'replicas' } } },
      template: { metadata: { labels: { app: 'replicas' } }, spec: replica },
    },
  },
];
const AGENTS = 13;

/** Labels of one sample of a text of /metrics. */
const labelsOf = (line) =>
  Object.fromEntries([...line.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]));

/** Returns the labels of nixl_agent_info for each agent in a container that a nixl-otel of the DaemonSet reads. */
function infos() {
  const pods = get('pods', '--selector', 'app.kubernetes.io/name=nixl-otel').items;
  const pages = pods.map(({ metadata: { name } }) =>
    kubectl(['get', '--raw', `/api/v1/namespaces/${NAMESPACE}/pods/${name}:9464/proxy/metrics`]),
  );
  const all = pages.flatMap((page) => page.match(/^nixl_agent_info\{.*/gm) ?? []).map(labelsOf);
  // An earlier run may have left rings: their agents have ended, and have no container.
  return all.filter((labels) => labels.container_id !== undefined);
}

/** Containers of the pods with agents, by ID. */
function containers() {
  const found = new Map();
  for (const { metadata, status } of get('pods', '--selector', 'app.kubernetes.io/name!=nixl-otel').items)
    for (const { name, containerID = '' } of status.containerStatuses ?? [])
      found.set(containerID.replace(/^.*:\/\//, ''), { namespace: NAMESPACE, pod: metadata.name, container: name });
  return found;
}

execFileSync(KUBECTL, [...FIRST, 'create', 'namespace', NAMESPACE], { stdio: 'inherit' });
process.on('exit', () => execFileSync(KUBECTL, [...FIRST, 'delete', 'namespace', NAMESPACE, '--wait=false']));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
apply(DAEMON_SET);
kubectl(['rollout', 'status', 'daemonset/nixl-otel', `--timeout=${LIMIT_MS / 1000}s`]);
apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: PODS }));
// The links come after the start of a container, and nixl-otel reads them again half a minute later.
const named = await until('each agent has the name of a pod', () => {
  const found = infos();
  return found.length === AGENTS && found.every(({ pod }) => pod !== undefined) && found;
});
const expected = containers();
let wrong = 0;
for (const labels of named.sort((a, b) => (a.agent_name < b.agent_name ? -1 : 1))) {
  const { agent_name, container_id, namespace, pod, container } = labels;
  const told = expected.get(container_id);
  // The kubelet cuts names of links at 255 bytes, `.log` included: less than 12 digits of the ID tell no container.
  const isTold = told !== undefined && `${told.pod}_${NAMESPACE}_${told.container}-`.length + 12 <= 251;
  const right =
    told?.namespace === namespace && told.pod === pod && container === (isTold ? told.container : undefined);
  if (!right) wrong++;
  console.log(`${right ? 'right' : 'WRONG'}  ${agent_name}: ${namespace} / ${pod} / ${container ?? '(not told)'}`);
  if (!right) console.log(`       Kubernetes: ${JSON.stringify(told)} for container ${container_id}`);
}
console.log(`${named.length} agents, ${wrong} named wrongly`);
process.exitCode = wrong === 0 ? 0 : 1;

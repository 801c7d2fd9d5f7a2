/** The files of deploy/, as data. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../cli/command.js';

export const at = (file: string): string => path.join(ROOT, 'deploy', file);

export interface Container {
  name: string;
  image: string;
  restartPolicy?: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value?: string }[];
  ports?: { name: string; containerPort: number }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
}

interface Probe {
  httpGet: { path: string; port: string | number };
  failureThreshold?: number;
}

export interface PodSpec {
  initContainers?: Container[];
  containers: Container[];
}

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: unknown;
}

/** A DaemonSet, or a Deployment, which has no `updateStrategy`. */
export interface PodsSpec {
  updateStrategy?: unknown;
  template: { metadata: { labels: Record<string, string> }; spec: PodSpec & { hostNetwork?: boolean } };
}

export function parsed<T>(file: string): T {
  return parse(readFileSync(at(file), 'utf8')) as T;
}

/** The manifests in a text of several documents. */
export function manifestsIn(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

/** Returns the one manifest of a kind. */
export function onlyOf<Spec>(manifests: readonly Manifest[], kind: string): Manifest & { spec: Spec } {
  const found = manifests.filter((manifest) => manifest.kind === kind);
  if (found.length !== 1) throw new Error(`${found.length} manifests of kind ${kind}`);
  return found[0] as Manifest & { spec: Spec };
}

/** The manifests that test/real/helm.test.ts renders from the chart. */
export function allManifests(): Manifest[] {
  const names = ['daemonset', 'sidecar', 'podmonitor', 'networkpolicy'];
  return names.flatMap((name) => manifestsIn(readFileSync(at(`kubernetes/${name}.yaml`), 'utf8')));
}

/** Specifications of the pods of the Deployment, which has the sidecar, and of the DaemonSet. */
export function podSpecs(manifests: readonly Manifest[]): PodSpec[] {
  return manifests.flatMap(({ kind, spec }) =>
    /^(Deployment|DaemonSet)$/.test(kind) ? [(spec as PodsSpec).template.spec] : [],
  );
}

export function containersOf({ initContainers = [], containers }: PodSpec): Container[] {
  return [...initContainers, ...containers];
}

/** Returns arguments of serve with any free port in place of that of `--listen`. */
export function onAnyPort(args: readonly string[]): string[] {
  return args.map((arg, i) => (args[i - 1] === '--listen' ? ':0' : arg));
}

/** Line of a serve that listens on all addresses. The only group has its port. */
export const SERVES = /serves http:\S+:(\d+)\/metrics/;

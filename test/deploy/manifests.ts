/** The files of deploy/, as data. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { tool } from '../support/package.js';
import { ROOT } from '../cli/command.js';

export const at = (file: string): string => path.join(ROOT, 'deploy', file);

export interface Container {
  name: string;
  image: string;
  args?: string[];
  env?: { name: string; value?: string }[];
  ports?: { name: string; containerPort: number }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
}

interface Probe {
  httpGet: { path: string; port: string };
}

export interface PodSpec {
  initContainers: Container[];
  containers: Container[];
}

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: unknown;
}

export async function parsed<T>(file: string): Promise<T> {
  const { parse } = (await import(await tool('yaml@2.9.0', 'yaml/dist/index.js'))) as { parse: (text: string) => T };
  return parse(readFileSync(at(file), 'utf8'));
}

export const MANIFESTS = ['kubernetes/sidecar.yaml', 'kubernetes/daemonset.yaml', 'kubernetes/podmonitor.yaml'];

/** Specifications of the sidecar's pod and of the DaemonSet's pods. */
export async function podSpecs(): Promise<PodSpec[]> {
  const [pod, set] = await Promise.all(MANIFESTS.slice(0, 2).map((file) => parsed<Manifest>(file)));
  return [pod!.spec as PodSpec, (set!.spec as { template: { spec: PodSpec } }).template.spec];
}

/**
 * Pod, namespace and container of a container's ID, from the links that the kubelet makes in /var/log/containers for each
 * container: POD_NAMESPACE_CONTAINER-ID.log -> /var/log/pods/NAMESPACE_POD_UID/CONTAINER/N.log. The name of a link is cut at 255
 * bytes, perhaps within the ID, and its target is not. The targets need not exist here: only the links are read.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../ground/errors.js';
import type { ContainerFacts } from './cgroup.js';

export interface KubernetesNames {
  readonly namespace: string;
  readonly pod: string;
  /** Absent if the link's name does not have enough of the ID to tell it from others of the pod. */
  readonly container?: string;
}

/** Kubernetes refuses `_` in all three names. */
const TARGET = /(?:^|\/)([^/_]+)_([^/_]+)_([0-9a-f-]+)\/([^/_]+)\/\d+\.log$/;
/** Digits of an ID that make an accident impossible. */
const LEAST_DIGITS = 12;
/** A node runs some hundred containers, and keeps links of ended ones for a while. */
const MOST_LINKS = 10_000;

/** Returns undefined outside of Kubernetes, and before the kubelet has made the link: that comes after the start. */
export function namesOfContainer(
  { containerId, podUid }: ContainerFacts,
  directory: string,
): KubernetesNames | undefined {
  if (containerId === undefined) return undefined;
  const links = attempt(() => readdirSync(directory))?.slice(0, MOST_LINKS) ?? [];
  let ofPod: KubernetesNames | undefined;
  for (const link of links) {
    // Most names have the ID. The others are cut, and only their targets tell more.
    const isWhole = link.endsWith(`-${containerId}.log`);
    if (!isWhole && Buffer.byteLength(link) < 255) continue;
    const target = TARGET.exec(attempt(() => readlinkSync(join(directory, link))) ?? '');
    if (target === null) continue;
    const [, namespace = '', pod = '', uid, container = ''] = target;
    const begin = `${pod}_${namespace}_${container}-`;
    const digits = link.startsWith(begin) ? link.slice(begin.length).replace(/\.log$/, '') : '';
    if (digits.length >= LEAST_DIGITS && containerId.startsWith(digits)) return { namespace, pod, container };
    if (uid === podUid) ofPod = { namespace, pod };
  }
  return ofPod;
}

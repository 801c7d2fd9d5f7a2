/**
 * Container and pod in a process's files of /proc: the path of its cgroup, and its mounts. Pure.
 *
 * Examples of paths in /proc/PID/cgroup, with ID for the 64 digits of a container:
 *
 *     0::/system.slice/docker-ID.scope
 *     0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0e2e_UID.slice/cri-containerd-ID.scope
 *     4:memory:/kubepods/besteffort/pod0e2e-UID/ID
 *     0::/machine.slice/libpod-ID.scope/container
 *     0::/system.slice/vllm.service/libpod-payload-ID    podman --cgroups=split, as units of Quadlet have it
 *
 * A path is relative to the root of the reader's cgroup namespace, and begins with /.. outside of it. What is above the
 * common part is invisible.
 */
export interface ContainerFacts {
  readonly containerId?: string | undefined;
  readonly podUid?: string | undefined;
}

/** Docker, containerd, CRI-O, podman and nerdctl. `crio-conmon-ID` and `libpod-conmon-ID` are monitors beside containers. */
const CONTAINER = /^(?:(?:docker|cri-containerd|crio|libpod(?:-payload)?|nerdctl)-)?([0-9a-f]{64})(?:\.scope)?$/;

/** The UID of a pod that the kubelet got from a file is no UUID, and not the UID that the API has: it is left out. */
const UUID = '[0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}';
/** In the names of systemd's slices `-` separates levels, so that the UID has `_`. */
const POD = new RegExp(`^(?:[a-z][a-z0-9-]*-)?pod(${UUID})(?:\\.slice)?$`);

/** Files that the kubelet mounts into each container: fields 4 and 5 of a line in mountinfo are root and mount point. */
const POD_MOUNT = new RegExp(
  `^(?:\\S+ ){3}\\S*/pods/(${UUID})/(?:etc-hosts /etc/hosts|containers/\\S+ /dev/termination-log) `,
  'm',
);

/** Returns the innermost container, and the innermost pod around it, from the text of /proc/PID/cgroup. */
export function containerInCgroups(text: string): ContainerFacts {
  const found = pathsIn(text).map(containersIn);
  const deepest = Math.max(0, ...found.map(({ containers }) => containers.length));
  const innermost = found.filter(({ containers }) => containers.length === deepest);
  return {
    containerId: onlyOne(innermost.map(({ containers }) => containers.at(-1))),
    podUid: onlyOne(innermost.map(({ podUid }) => podUid)),
  };
}

/** Returns true if the reader's cgroup namespace hides every path: the process is in or above the reader's own cgroup. */
export function hidesCgroups(text: string): boolean {
  return pathsIn(text).every((path) => /^\/(\.\.(\/|$))*$/.test(path));
}

/** Returns the pod that the mounts of a container belong to, from the text of /proc/PID/mountinfo. */
export function podInMounts(text: string): string | undefined {
  return POD_MOUNT.exec(text)?.[1];
}

/** Version 1 has a line for each hierarchy, version 2 has one, and a machine may have both: `number:controllers:path`. */
function pathsIn(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^\d+:[^:]*:/, ''));
}

function containersIn(path: string) {
  // containerd writes SLICE:cri-containerd:ID in one name if it has systemd's names, and not systemd's driver.
  const names = path.split(/[/:]/);
  const containers = names.flatMap((name) => CONTAINER.exec(name)?.[1] ?? []);
  const podUid = names.flatMap((name) => POD.exec(name)?.[1] ?? []).at(-1);
  return { containers, podUid: podUid?.replaceAll('_', '-') };
}

/** Returns undefined if the values contradict each other. */
function onlyOne(values: readonly (string | undefined)[]): string | undefined {
  const [one, ...others] = new Set(values.filter((value) => value !== undefined));
  return others.length === 0 ? one : undefined;
}

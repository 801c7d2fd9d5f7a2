/** Containers and pods in files of /proc. The shapes of the paths are those of published reports of each runtime. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { containerInCgroups, hidesCgroups, podInMounts } from '../../src/shm-bridge/cgroup.js';
import { readProcessIdentity } from '../../src/shm-bridge/process-identity.js';
import { temporaryDirectory } from '../support/live.js';

const ID = '0f99ad5f45163ed14ab8eaf92ed34bb4a631d007f8755a7d79be614bcb0df0ef';
const OUTER = 'c12c805d6314549dc42365c22d74814e277b971b835bffb1db79772d2abefcb0';
const UID = 'ff49d0be-16b7-4a49-bb9e-8ec1f1f4e27f';
const OUTER_UID = '1e597579_417e_482f_bf65_5fe170c3aebd';
const SLICE_UID = UID.replaceAll('-', '_');
const STATIC_UID = '8c5c3a7f2b1de04696f8a1e7d3c4b5a6';

/** Slices of systemd around a pod. */
const slices = (prefix: string, quality: string, uid = SLICE_UID): string =>
  `${prefix}.slice/${prefix}-${quality}.slice/${prefix}-${quality}-pod${uid}.slice`;

/** Version 1, with one line for each hierarchy and one without any. */
const version1 = (path: string): string =>
  ['12:memory', '11:cpu,cpuacct', '4:devices', '1:name=systemd'].map((line) => `${line}:${path}\n`).join('') +
  '2:rdma:/\n';
const version2 = (path: string): string => `0::${path}\n`;

const IN_CONTAINERS: readonly [what: string, text: string, containerId?: string | undefined, podUid?: string][] = [
  ['Docker, systemd', version2(`/system.slice/docker-${ID}.scope`), ID],
  ['Docker, cgroupfs', version1(`/docker/${ID}`), ID],
  ['Docker with systemd inside', version2(`/system.slice/docker-${ID}.scope/system.slice/vllm.service`), ID],
  ['Docker in Docker', version1(`/docker/${OUTER}/docker/${ID}`), ID],
  ['a hybrid machine', `${version1(`/docker/${ID}`)}0::/system.slice/docker.service\n`, ID],
  ['Docker under Kubernetes', version1(`/kubepods/burstable/pod${UID}/${ID}`), ID, UID],
  ['dockershim, systemd', version1(`/${slices('kubepods', 'besteffort')}/docker-${ID}.scope`), ID, UID],
  ['containerd, systemd', version2(`/${slices('kubepods', 'burstable')}/cri-containerd-${ID}.scope`), ID, UID],
  [
    'containerd, guaranteed',
    version2(`/kubepods.slice/kubepods-pod${SLICE_UID}.slice/cri-containerd-${ID}.scope`),
    ID,
    UID,
  ],
  ['containerd, cgroupfs', version2(`/kubepods/besteffort/pod${UID}/${ID}`), ID, UID],
  [
    "containerd with systemd's names and the other driver",
    version1(`/system.slice/containerd.service/kubepods-burstable-pod${SLICE_UID}.slice:cri-containerd:${ID}`),
    ID,
    UID,
  ],
  ['CRI-O, systemd', version1(`/${slices('kubepods', 'burstable')}/crio-${ID}.scope`), ID, UID],
  ['CRI-O, a cgroup inside', version2(`/${slices('kubepods', 'burstable')}/crio-${ID}.scope/container`), ID, UID],
  ['CRI-O, cgroupfs', version1(`/kubepods/burstable/pod${UID}/crio-${ID}`), ID, UID],
  ["CRI-O's monitor", version1(`/${slices('kubepods', 'burstable')}/crio-conmon-${ID}.scope`), undefined, UID],
  ['podman', version2(`/machine.slice/libpod-${ID}.scope/container`), ID],
  ['podman, cgroupfs', version1(`/libpod_parent/libpod-${ID}`), ID],
  ['podman without root', version2(`/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-${ID}.scope`), ID],
  ["podman's pod", version2(`/machine.slice/machine-libpod_pod_${OUTER}.slice/libpod-${ID}.scope/container`), ID],
  ['podman, its unit divided (quadlet)', version2(`/system.slice/vllm.service/libpod-payload-${ID}`), ID],
  ["podman's monitor in its unit", version2('/system.slice/vllm.service/runtime')],
  ["podman's monitor", version2(`/machine.slice/libpod-conmon-${ID}.scope`)],
  ['nerdctl', version2(`/system.slice/nerdctl-${ID}.scope`), ID],
  [
    'kind, seen from its node',
    version2(`/kubelet.slice/${slices('kubelet-kubepods', 'besteffort')}/cri-containerd-${ID}.scope`),
    ID,
    UID,
  ],
  [
    'kind, seen from its host',
    version2(
      `/system.slice/docker-${OUTER}.scope/kubelet.slice/${slices('kubelet-kubepods', 'burstable')}/cri-containerd-${ID}.scope`,
    ),
    ID,
    UID,
  ],
  [
    'kind in a pod',
    version2(
      `/${slices('kubepods', 'burstable', OUTER_UID)}/crio-${OUTER}.scope/${slices('kubelet-kubepods', 'burstable')}/crio-${ID}.scope`,
    ),
    ID,
    UID,
  ],
  [
    'Docker in a pod',
    version2(`/${slices('kubepods', 'burstable')}/cri-containerd-${OUTER}.scope/docker/${ID}`),
    ID,
    UID,
  ],
  [
    'Docker in a pod on a hybrid machine',
    `${version1(`/kubepods/pod${UID}/${OUTER}/docker/${ID}`)}0::/kubepods/pod${UID}/${OUTER}/system.slice\n`,
    ID,
    UID,
  ],
  ["a pod of the kubelet's own file", version2(`/${slices('kubepods', 'burstable', STATIC_UID)}/crio-${ID}.scope`), ID],
  ['another container of the same pod', version2(`/../cri-containerd-${ID}.scope`), ID],
  [
    'a container of another pod',
    version2(`/../../kubepods-burstable-pod${SLICE_UID}.slice/cri-containerd-${ID}.scope`),
    ID,
    UID,
  ],
  ['two lines that contradict each other', `4:memory:/docker/${ID}\n3:cpu:/docker/${OUTER}\n`],
  ['a service of systemd', version2('/system.slice/vllm.service')],
  ['a session of a user', version2('/user.slice/user-1000.slice/session-3.scope')],
  ['a job of Slurm', version1('/slurm/uid_1000/job_17/step_0/task_0')],
  ['an identifier of 63 digits', version1(`/docker/${ID.slice(1)}`)],
  ['another scope', version2(`/system.slice/run-${ID}.scope`)],
  ['an empty file', ''],
];

describe('a process in', () => {
  it.each(IN_CONTAINERS)('%s', (_, text, containerId, podUid) => {
    expect(containerInCgroups(text)).toEqual({ containerId, podUid });
  });
});

describe('a cgroup namespace', () => {
  it.each(['/', '/..', '/../..', '/../'])('hides the path %s', (path) => {
    expect(containerInCgroups(version2(path))).toEqual({ containerId: undefined, podUid: undefined });
    expect([version2(path), version1('/') + version2(path)].map(hidesCgroups)).toEqual([true, true]);
  });

  it.each(['/vllm', '/../vllm', '/..vllm', `/../cri-containerd-${ID}.scope`])('does not hide the path %s', (path) => {
    expect([version2(path), version1(path) + version2('/')].map(hidesCgroups)).toEqual([false, false]);
  });
});

/** Lines of /proc/PID/mountinfo, with a mount from `root` to `point` among others. */
function mounts(root: string, point: string): string {
  return [
    '659 450 0:183 / / rw,relatime master:88 - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/WFCW',
    '660 659 0:185 / /proc rw,nosuid - proc proc rw',
    `661 659 254:1 ${root} ${point} rw,relatime - ext4 /dev/vda1 rw`,
    '662 659 0:187 / /dev/pts rw,nosuid - devpts devpts rw',
  ].join('\n');
}

const PODS = '/var/lib/kubelet/pods';

describe('the mounts of a container', () => {
  it.each([
    [`${PODS}/${UID}/etc-hosts`, '/etc/hosts'],
    [`${PODS}/${UID}/containers/agent/2b8ca9a1`, '/dev/termination-log'],
    [`/pods/${UID}/etc-hosts`, '/etc/hosts'],
    [`/var/lib/docker/volumes/${OUTER}/_data/lib/kubelet/pods/${UID}/etc-hosts`, '/etc/hosts'],
  ])('name the pod: %s at %s', (root, point) => {
    expect(podInMounts(mounts(root, point))).toBe(UID);
  });

  it.each([
    [`/var/lib/docker/containers/${ID}/hosts`, '/etc/hosts'],
    [`${PODS}/${STATIC_UID}/etc-hosts`, '/etc/hosts'],
    [`${PODS}/${UID}/volumes/kubernetes.io~empty-dir/rings`, '/nixl'],
    [`${PODS}/${UID}/etc-hosts`, `${PODS}/${UID}/etc-hosts`],
    [`${PODS}/${UID}/containers/agent/2b8ca9a1`, '/dev/termination-log-2'],
  ])('do not name it: %s at %s', (root, point) => {
    expect(podInMounts(mounts(root, point))).toBeUndefined();
  });
});

describe('a process', () => {
  function procWith(files: Record<string, string>): string {
    const proc = temporaryDirectory();
    mkdirSync(join(proc, '7'));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(proc, '7', file), text);
    return proc;
  }

  it('has the pod of its mounts if its cgroup does not show it', () => {
    const mountinfo = mounts(`${PODS}/${UID}/etc-hosts`, '/etc/hosts');
    const comm = 'VLLM::Worker_TP\n';
    expect(readProcessIdentity(7, procWith({ cgroup: version2(`/../crio-${ID}.scope`), mountinfo, comm }))).toEqual({
      name: 'VLLM::Worker_TP',
      containerId: ID,
      podUid: UID,
      isHidden: false,
    });
    const other = `/../../pod${UID.replace('ff', '00')}/${ID}`;
    expect(readProcessIdentity(7, procWith({ cgroup: version2(other), mountinfo, comm }))).toMatchObject({
      podUid: UID.replace('ff', '00'),
    });
    expect(readProcessIdentity(7, procWith({ cgroup: version2('/'), mountinfo: '', comm }))).toEqual({
      name: 'VLLM::Worker_TP',
      containerId: undefined,
      podUid: undefined,
      isHidden: true,
    });
  });

  it('that has ended has no identity', () => {
    expect(readProcessIdentity(8, procWith({}))).toBeUndefined();
    expect(readProcessIdentity(7, procWith({ cgroup: version2('/') }))).toBeUndefined();
  });
});

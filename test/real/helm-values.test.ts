/** Values of the Helm chart that it refuses, and others at their limits. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { start, temporaryDirectory } from '../cli/command.js';
import { SERVES } from '../deploy/manifests.js';
import { CHART, ChartTools, type Values } from './chart.js';

const tools = (await ChartTools.build())!; // without them, no test below runs

const image = { repository: 'registry.example.com/nixl-otel' };
const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
const sidecar = { image, mode: 'sidecar', sidecar: { demo: true } };

describe.runIf(tools !== undefined)('the chart', () => {
  test.each([
    [{}, /image\.repository is not set: name registry and image/],
    [{ image: { repository: 'nixl-otel' } }, /\/image\/repository.*'nixl-otel' does not match pattern/],
    [{ image, agents: { user: 'root' } }, /\/agents\/user.*got string, want integer/],
    [{ image, mode: 'deployment' }, /\/mode.*must be one of '', 'daemonset', 'sidecar'/],
    [{ image, port: 80 }, /\/port.*minimum: got 80, want 1,?024/],
    [{ image, sideCar: {} }, /additional properties 'sideCar' not allowed/],
    [
      { image, dynamo: true, mode: 'daemonset' },
      /mode is daemonset, and dynamo: true needs mode sidecar: leave mode out/,
    ],
    [{ image, sidecar: { demo: true } }, /sidecar\.demo: true needs mode: sidecar/],
    [{ ...sidecar, agents: { severalUsers: true } }, /agents\.severalUsers: true needs mode: daemonset/],
    [{ image, args: ['--web-config', 'web.yml'] }, /args has --web-config: the probes and the PodMonitor use HTTP/],
    [{ ...sidecar, args: ['--web-config=web.yml'] }, /args has --web-config=web\.yml: the probes/],
    [{ image, env: [{ name: 'NODE_NAME', value: 'a' }] }, /env has NODE_NAME, which the chart sets: leave it out/],
    [{ image, env: [{ name: 'X' }] }, /\/env\/0.*'oneOf' failed, none matched.*missing property 'value'/s],
    [{ image, env: [{ name: 'X', value: 'a', valueFrom: {} }] }, /\/env\/0.*'oneOf' failed, subschemas 0, 1 matched/],
    [{ image: { ...image, digest: 'sha256:1' } }, /\/image\/digest.*'sha256:1' does not match pattern/],
    [
      { image: { ...image, tag: 'v1', digest } },
      /image\.tag is v1 and image\.digest is set: only one of them is allowed/,
    ],
    [
      { image, podMonitor: { interval: '30s' } },
      /podMonitor\.interval is 30s; it must be below --dead-ttl, which is 30 s/,
    ],
    [{ image, podMonitor: { interval: '30000ms' } }, /podMonitor\.interval is 30000ms/],
    [{ image, podMonitor: { interval: '1m' } }, /podMonitor\.interval is 1m/],
    [{ ...sidecar, env: [{ name: 'POD_NAME', value: 'a' }] }, /env has POD_NAME, which the chart sets/],
    [{ image, env: ['a', 'b'].map((value) => ({ name: 'X', value })) }, /env has X twice/],
    [
      { image, prometheusRule: { enabled: true, disabled: ['NixlOtelAbsnt'] } },
      /prometheusRule\.disabled has NixlOtelAbsnt, which is no alert; allowed: NixlOtelDown, NixlOtelAbsent/,
    ],
    [
      { image, prometheusRule: { runbookBase: 'docs/' } },
      /\/prometheusRule\/runbookBase.*'docs\/' does not match pattern/,
    ],
    [{ ...sidecar, networkPolicy: { enabled: true } }, /networkPolicy\.enabled: true needs mode: daemonset/],
    ...[['--series', 'nixl'], ['--series=nixl'], ['--exporter', 'otlp', '--series', 'nixl', '--state', 'off']].map(
      (args): [Values, RegExp] => [
        { image, args, prometheusRule: { enabled: true } },
        /args has --series nixl, which leaves out the series of most alerts: remove it, or set prometheusRule\.enabled: false/,
      ],
    ),
    ...['/dev/shm/../../etc/x', '/dev/shm/./x', '/dev/shm/..', '/run/nixl', '/var/run/nixl', '/dev/shm/'].map(
      (directory): [Values, RegExp] => [{ image, daemonset: { directory } }, /\/daemonset\/directory/],
    ),
    ...['Nixl', 'a_b', '-a', 'a..b', 'a.', `${'a'.repeat(254)}`].map((name): [Values, RegExp] => [
      { image, serviceAccount: { name } },
      /\/serviceAccount\/name/,
    ]),
  ])('refuses %j with the value and what is allowed', (values, message) => {
    expect(() => tools.render(values)).toThrow(message);
  });

  test.each([
    { args: ['--series', 'nixl'] },
    { args: ['--series', 'nixl-like'], prometheusRule: { enabled: true } },
    { daemonset: { directory: '/dev/shm/.nixl..1' } },
    { daemonset: { directory: '/var/lib/nixl/rings' } },
    { serviceAccount: { name: 'nixl-otel.team-1' } },
  ])('accepts %j', (values) => {
    expect(tools.manifests({ image, ...values }).map(({ kind }) => kind)).toContain('DaemonSet');
  });

  test('the example of args in values.yaml is one that serve and the rules take', async () => {
    const text = readFileSync(path.join(CHART, 'values.yaml'), 'utf8');
    const args = parse(/^# Further arguments .* for example (\[.+\]):/m.exec(text)![1]!) as string[];
    expect(tools.render({ image, args, prometheusRule: { enabled: true } })).toContain('alert: NixlOtelDown');
    const serve = start(['serve', '--listen', ':0', ...args], { NIXL_TELEMETRY_DIR: temporaryDirectory() });
    await serve.says(SERVES);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  });
});

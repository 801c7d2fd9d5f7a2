/** Cases of the alerts on serve itself: it does not answer, does not push, or is not there. */
import { EVER_FIRED, FIRING, firing } from './firing.js';
import type { RuleCase } from './rule-test.js';

/** Alerts that fire with `--series nixl`. */
export const ALERTS_OF_SERIES_NIXL = [
  'NixlOtelDown',
  'NixlOtelAbsent',
  'NixlEventsDropped',
  'NixlErrorRatioHigh',
  'NixlAgentIdle',
];

const OTHER_JOB = 'models/dynamo-worker';
const ABSENT = 'count by (alertname, job) (ALERTS{alertname="NixlOtelAbsent", alertstate="firing"})';
const ABSENT_FIRES = [['{alertname="NixlOtelAbsent", job="nixl-otel"}', 1]] as const;

export const SERVES: RuleCase[] = [
  {
    name: 'a serve that does not answer fires after two minutes, in a scrape',
    isFor: ({ isOtlp }) => !isOtlp,
    input: [
      ['serve', { instance: 'a' }, '1x9 0x10'],
      ['serve', { instance: 'b' }, '1x9 0 1x10'],
    ],
    checks: [
      [FIRING, 11, []],
      [FIRING, 12, [firing('NixlOtelDown', 'instance="a"')]],
    ],
  },
  {
    name: 'a serve that stops to push fires after five minutes, by OTLP, until it has been away for fifteen',
    isFor: ({ isOtlp }) => isOtlp,
    input: [
      ['serve', { instance: 'a' }, '1x9 0x30'],
      ['serve', { instance: 'b' }, '1x9 0x4 1x30'],
      // A serve that waited for another one, and took over its id.
      ['serve', { instance: '31c39d28-0f1e-4e6c-9d3b-7d8f2f1f4c11' }, '1x9 0x30'],
    ],
    checks: [
      [FIRING, 13, []],
      [FIRING, 15, [firing('NixlOtelSilent', 'instance="a"')]],
      [FIRING, 26, []],
      [EVER_FIRED, 26, [['{alertname="NixlOtelSilent"}', 1]]],
    ],
  },
  {
    name: 'no serve at all fires after five minutes',
    input: [['serve', { instance: 'a' }, '1x9 stale _x20']],
    checks: [
      [ABSENT, 13, []],
      [ABSENT, 16, ABSENT_FIRES],
    ],
  },
  {
    name: 'a serve under another job is there',
    input: [['ticks', { job: OTHER_JOB, instance: 'a' }, '0+3000x20']],
    checks: [['max_over_time(count(ALERTS)[20m:1m])', 20, []]],
  },
  {
    name: 'a serve under another job that does not answer fires, for an hour after its last answer',
    isFor: ({ isOtlp }) => !isOtlp,
    input: [
      ['serve', { job: OTHER_JOB, instance: 'a' }, '1x9 0x80'],
      ['ticks', { job: OTHER_JOB, instance: 'a' }, '0+3000x9 stale'],
      // A sibling lives.
      ['serve', { job: OTHER_JOB, instance: 'b' }, '1x90'],
      ['ticks', { job: OTHER_JOB, instance: 'b' }, '0+3000x90'],
      // Service discovery has removed the target.
      ['serve', { job: OTHER_JOB, instance: 'removed' }, '1x9 stale'],
      ['ticks', { job: OTHER_JOB, instance: 'removed' }, '0+3000x9 stale'],
      ['serve', { job: OTHER_JOB, instance: 'slow once' }, '1x9 0 1x80'],
      ['ticks', { job: OTHER_JOB, instance: 'slow once' }, '0+3000x9 stale 30000+3000x80'],
      // Targets that have never been a serve.
      ['serve', { job: OTHER_JOB, instance: 'never answered' }, '0x90'],
      ['serve', { job: 'node', instance: 'a' }, '1x9 0x80'],
      ['serve', { cluster: 'other', job: OTHER_JOB, instance: 'b' }, '1x9 0x80'],
    ],
    checks: [
      [FIRING, 11, []],
      [FIRING, 12, [firing('NixlOtelDown', 'instance="a"')]],
      [FIRING, 68, [firing('NixlOtelDown', 'instance="a"')]],
      [FIRING, 71, []],
      [EVER_FIRED, 71, [['{alertname="NixlOtelDown"}', 1]]],
    ],
  },
  {
    name: 'a serve with the series of NIXL alone is there',
    isFor: ({ isOtlp }) => isOtlp,
    input: [['tx bytes', { instance: 'a', agent_name: 'x' }, '0+600x20']],
    checks: [['max_over_time(count(ALERTS)[20m:1m])', 20, []]],
  },
  {
    name: 'some alerts fire with the series of NIXL alone',
    isFor: ({ isOtlp }) => !isOtlp,
    input: [
      ['serve', { instance: 'a' }, '1x60'],
      ['serve', { instance: 'down' }, '1x9 0x50'],
      ['tx bytes', { instance: 'a', agent_name: 'busy-0' }, '0+4096x60'],
      ['events dropped', { instance: 'a', agent_name: 'busy-0' }, '0x9 7x50'],
      ['errors', { instance: 'a', agent_name: 'busy-0', status: 'backend' }, '0x9 10+10x50'],
      ...[0, 1, 2].map((i) => ['tx requests', { instance: 'a', agent_name: `busy-${i}` }, '0+90x60'] as const),
      ['tx requests', { instance: 'a', agent_name: 'stuck' }, '0+90x19 1710x40'],
    ],
    // At the end there are no series, as with no serve at all.
    checks: [
      [
        'count by (alertname) (max_over_time(ALERTS{alertstate="firing"}[80m]))',
        80,
        ALERTS_OF_SERIES_NIXL.map((alert) => [`{alertname="${alert}"}`, 1] as const),
      ],
    ],
  },
  {
    name: "NIXL's own exporter is no serve",
    input: [['tx bytes', { job: 'workers', instance: 'a', agent_name: 'x' }, '0+600x20']],
    checks: [[ABSENT, 16, ABSENT_FIRES]],
  },
];

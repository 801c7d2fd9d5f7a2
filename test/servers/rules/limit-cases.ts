/** Cases on both sides of a limit: of failed exports, of idle agents, of errors. */
import { EVER_FIRED, FIRING, firing } from './firing.js';
import type { RuleCase } from './rule-test.js';

/** Names an agent of host `a`. */
const agent = (name: string) => ({ instance: 'a', agent_name: name });
const errorsOf = (name: string) => ({ ...agent(name), status: 'backend' });
const busy = (count: number) =>
  Array.from({ length: count }, (_, i) => ['tx requests', agent(`busy-${i}`), '0+90x60'] as const);
const WITHOUT_WORK = '0+90x19 1710x40';

export const LIMITS: RuleCase[] = [
  {
    name: 'exports that failed for at most two minutes do not fire',
    interval: '15s',
    input: [
      ['serve', { instance: 'a' }, '1x120'],
      // The first failure is in minute 10. Each value is a failure.
      ['exporter failures', { instance: '30 s apart', exporter: 'otlp' }, '0x39 1x1 2x80'],
      ['exporter failures', { instance: '60 s apart', exporter: 'otlp' }, '0x39 1x3 2x80'],
      ['exporter failures', { instance: 'receiver restarts', exporter: 'otlp' }, '0x39 1x3 2x3 3x80'],
      ['exporter failures', { instance: 'lasting', exporter: 'otlp' }, '0x39 1x3 2x3 3x3 4x3 5x3 6x3 7x60'],
    ],
    checks: [
      [FIRING, 14, []],
      [FIRING, 16, [firing('NixlExportFailing', 'instance="lasting"')]],
      [FIRING, 20, []],
      [EVER_FIRED, 25, [['{alertname="NixlExportFailing"}', 1]]],
    ],
  },
  {
    name: 'exports that failed for at most two minutes do not fire if samples come every minute',
    input: [
      ['serve', { instance: 'a' }, '1x40'],
      ['exporter failures', { instance: 'a', exporter: 'twice' }, '0x9 1 2x30'],
      ['exporter failures', { instance: 'a', exporter: 'receiver restarts' }, '0x9 1 2 3x30'],
    ],
    checks: [[EVER_FIRED, 40, []]],
  },
  {
    name: 'one idle agent among busy peers fires after fifteen minutes',
    input: [
      ['serve', { instance: 'a' }, '1x60'],
      ['tx requests', { instance: 'a', agent_name: 'stuck' }, '0+90x19 1710x40'],
      ...busy(2),
      ['rx requests', { instance: 'a', agent_name: 'reads' }, '0+90x60'],
      // Has ended, and is still exported.
      ['tx requests', { instance: 'a', agent_name: 'ended' }, '0+90x19 1710x40'],
      ['agent up', { instance: 'a', agent_name: 'ended' }, '1x19 0x40'],
      // A peer of transfers counts nothing.
      ['tx requests', { instance: 'a', agent_name: 'target' }, '0x60'],
      // No peer works: there is no work.
      ['tx requests', { instance: 'b', agent_name: 'one' }, '0+90x19 1710x40'],
      ['tx requests', { instance: 'b', agent_name: 'two' }, '0+90x19 1710x40'],
      ['tx requests', { instance: 'b', agent_name: 'three' }, '0+90x60'],
    ],
    checks: [
      [FIRING, 32, []],
      [FIRING, 36, [firing('NixlAgentIdle', 'instance="a", agent="stuck"')]],
    ],
  },
  {
    name: 'an idle agent fires if at least three agents of its host are busy, and two if six are',
    input: [
      ['serve', { instance: 'a' }, '1x60'],
      ['tx requests', agent('idle-0'), WITHOUT_WORK],
      ['tx requests', agent('idle-1'), WITHOUT_WORK],
      ...busy(6),
    ],
    checks: [
      [
        FIRING,
        36,
        [
          firing('NixlAgentIdle', 'instance="a", agent="idle-0"'),
          firing('NixlAgentIdle', 'instance="a", agent="idle-1"'),
        ],
      ],
    ],
  },
  {
    name: 'no idle agent fires where a busy model shares the host with one without work',
    input: [
      ['serve', { instance: 'a' }, '1x60'],
      ['tx requests', agent('idle-0'), WITHOUT_WORK],
      ['tx requests', agent('idle-1'), WITHOUT_WORK],
      ...busy(5),
    ],
    checks: [[EVER_FIRED, 60, []]],
  },
  {
    name: 'fewer than five errors in five minutes do not fire, whatever their share',
    interval: '15s',
    input: [
      ['serve', { instance: 'a' }, '1x160'],
      // Without a finished transfer, each error is a share of 100 %. The first is in minute 10.
      ['tx requests', agent('two'), '5x160'],
      ['errors', errorsOf('two'), '0x39 1x9 2x110'],
      ['tx requests', agent('rare'), '5x160'],
      ['errors', errorsOf('rare'), '0x39 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3 10x3 11x3 12x3 13x3 14x40'], // each minute: at times four are in view
      // First samples: four errors, then one every 75 s when they no longer count; and many at once.
      ['tx requests', agent('new'), '_x40 5x120'],
      ['errors', errorsOf('new'), '_x40 4x20 5x4 6x4 7x4 8x4 9x4 10x70'],
      ['tx requests', agent('burst'), '_x40 5x120'],
      ['errors', errorsOf('burst'), '_x40 50x120'],
    ],
    checks: [[EVER_FIRED, 40, []]],
  },
  {
    name: 'at least five errors in five minutes fire, also those of a first sample',
    interval: '15s',
    input: [
      ['serve', { instance: 'a' }, '1x160'],
      ['tx requests', agent('failing'), '5x160'],
      ['errors', errorsOf('failing'), '0x39 1x2 2x2 3x2 4x2 5x2 6x2 7x2 8x2 9x2 10x2 11x2 12x2 13x2 14x2 15x2 16x80'], // every 45 s
      // Two kinds of errors count together.
      ['tx requests', agent('two kinds'), '5x160'],
      ['errors', errorsOf('two kinds'), '0x39 1x4 2x4 3x4 4x4 5x4 6x4 7x4 8x4 9x80'],
      ['errors', { ...errorsOf('two kinds'), status: 'not_found' }, '0x39 1x4 2x4 3x4 4x4 5x4 6x4 7x4 8x4 9x80'],
      ['tx requests', agent('new'), '_x40 5x120'],
      ['errors', errorsOf('new'), '_x40 6x2 7x2 8x2 9x2 10x2 11x2 12x2 13x2 14x2 15x2 16x2 17x2 18x2 19x80'],
    ],
    checks: [
      [FIRING, 14, []],
      [FIRING, 16, [firing('NixlErrorRatioHigh', 'instance="a", agent="new"')]],
      [
        FIRING,
        20,
        [
          firing('NixlErrorRatioHigh', 'instance="a", agent="failing"'),
          firing('NixlErrorRatioHigh', 'instance="a", agent="new"'),
          firing('NixlErrorRatioHigh', 'instance="a", agent="two kinds"'),
        ],
      ],
    ],
  },
];

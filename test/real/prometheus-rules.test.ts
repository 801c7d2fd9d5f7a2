/** The shipped rules and dashboards on a real Prometheus 3: scraped, and with its receiver of OTLP. */
import { describe, it } from 'vitest';
import { expectAnswers } from '../servers/dashboards.js';
import type { Way } from '../servers/spelled-fleet.js';
import { providePrometheus } from './tools.js';

const WAYS: [preset: string, way: Way][] = [
  ['standard', 'text'],
  ['standard', 'protobuf'],
  ['full', 'OTLP'],
  ['full', 'OTLP, exponential'],
];

describe.skipIf(!(await providePrometheus()))('a Prometheus 3', () => {
  it.each(WAYS)('has data for every expression of dashboards and rules: preset %s, by %s', (preset, way) =>
    expectAnswers(preset, way, 'none'),
  );
});

/** Headers Accept of scrapers, browsers and scripts, and the format that they get. */
import { describe, expect, it } from 'vitest';
import { type ExpositionFormat, formatFor } from '../../../src/serve/http/accept.js';

const PROTO = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited';
const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0';

describe('protobuf', () => {
  it.each([
    // Prometheus 2.53 with native histograms switched on.
    `${PROTO};q=0.6,${OPEN_METRICS};q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
    // Prometheus 3.5, likewise.
    `${PROTO};q=0.6,${OPEN_METRICS};escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1`,
    `${PROTO};escaping=allow-utf-8`,
    PROTO,
    `${PROTO}, */*`,
    `${PROTO}, text/plain`,
    `text/*;q=0.9, ${PROTO}`,
    `text/plain;q=0, text/*, ${PROTO};q=0.1`,
    ' Application/vnd.Google.Protobuf ; encoding=delimited ; Proto="io.prometheus.client.MetricFamily" ; Q=0.6 ',
    `nonsense, ;;, ${PROTO}`,
  ])('is preferred by %s', (accept) => expect(formatFor(accept)).toBe('protobuf'));

  it.each([
    undefined,
    '',
    '*/*',
    'application/*',
    'text/plain',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    `text/plain;version=0.0.4;q=0.6, ${PROTO};q=0.5`,
    `text/plain;version=1.0.0;q=0.6, ${PROTO};q=0.5, text/plain;version=0.0.4;q=0.4`,
    `text/*;q=0.6, ${PROTO};q=0.5`,
    `*/*;q=0.6, ${PROTO};q=0.5`,
    `${PROTO};q=0`,
    `${PROTO};q=0.0`,
    `${PROTO};q=2`,
    `${PROTO};q=much`,
    // Other messages and encodings, which serve does not have.
    'application/vnd.google.protobuf',
    'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text',
    'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=compact-text',
    'application/vnd.google.protobuf;proto=other.Family;encoding=delimited',
    'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily',
  ])('is not preferred by %s', (accept) => expect(formatFor(accept)).toBe('text'));
});

it.each<[ExpositionFormat, string]>([
  // Prometheus 3.5 with its defaults, and 2.53.
  [
    'openmetrics',
    `${OPEN_METRICS};escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
  ],
  ['openmetrics', `${OPEN_METRICS};q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;q=0.3,*/*;q=0.2`],
  ['openmetrics', OPEN_METRICS],
  ['openmetrics', 'application/openmetrics-text'],
  ['openmetrics', ' Application/OpenMetrics-Text ; Version="1.0.0" ; charset=utf-8'],
  ['openmetrics', `${OPEN_METRICS}, text/plain`],
  ['openmetrics', `${OPEN_METRICS}, ${PROTO};q=0.5`],
  ['protobuf', `${OPEN_METRICS}, ${PROTO}`],
  // VictoriaMetrics.
  ['text', 'text/plain;version=0.0.4;q=1,*/*;q=0.1'],
  ['text', `text/plain, ${OPEN_METRICS};q=0.9`],
  ['text', `${OPEN_METRICS};q=0`],
  ['text', 'application/openmetrics-text;version=0.0.1'],
  ['text', 'application/openmetrics-text;version=2.0.0'],
])('%s is the format for %s', (format, accept) => expect(formatFor(accept)).toBe(format));

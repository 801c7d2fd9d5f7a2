/** serve accepts the headers and resource attributes that the SDK parses, and refuses those that it drops. */
import { parseKeyPairsIntoRecord } from '@opentelemetry/core';
import { detectResources, envDetector } from '@opentelemetry/resources';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { checkHeaders, checkResourceAttributes } from '../../src/settings/key-value-pairs.js';
import { run, temporaryDirectory } from '../cli/command.js';

afterEach(() => vi.unstubAllEnvs());

const SECRET = 'hunter2';

describe('headers', () => {
  it.each([
    ['', {}],
    ['a=b', { a: 'b' }],
    [' a = b , c=d,', { a: 'b', c: 'd' }],
    ['authorization=Basic%20dXNlcjpwdw==', { authorization: 'Basic dXNlcjpwdw==' }],
    ['a=x%2Cy%3Bz', { a: 'x,y;z' }],
  ])('%j are what the SDK makes of them', (text, record) => {
    checkHeaders('HEADERS', text, false);
    expect(parseKeyPairsIntoRecord(text)).toEqual(record);
  });

  it.each([
    [SECRET, 'entry 1, from character 1 on, has no ='],
    [`a=b,${SECRET}`, 'entry 2, from character 5 on, has no ='],
    [`=${SECRET}`, 'entry 1, from character 1 on, has no name before its ='],
    ['a=b,,c=', 'entry 3, from character 6 on, has no value for the header c'],
    [`a=${SECRET}%`, 'entry 1, from character 1 on, has a % in its value that does not begin'],
    [`a%zz=${SECRET}`, 'entry 1, from character 1 on, has a % in its name'],
    [`a=${SECRET};path=/`, 'entry 1, from character 1 on, has a semicolon'],
    [`a b=${SECRET}`, 'entry 1, from character 1 on, has a name that is not allowed for an HTTP header'],
    [`a=${SECRET}%0A`, 'entry 1, from character 1 on, has a value for a with characters that no header may have'],
    [`a=${SECRET},A=2`, 'entry 2, from character 11 on, repeats the header A'],
  ])('%j are refused', (text, problem) => {
    expect(() => checkHeaders('HEADERS', text, false)).toThrow(`HEADERS: ${problem}`);
    expect(() => checkHeaders('HEADERS', text, false)).toThrow(
      expect.not.objectContaining({ message: new RegExp(SECRET) }),
    );
    // The SDK drops most of these. The others it truncates, they fail at each export, or they hide another header.
    const entries = text.split(',').filter(Boolean);
    if (!/;|a b|%0A|A=/.test(text))
      expect(Object.keys(parseKeyPairsIntoRecord(text)).length).toBeLessThan(entries.length);
  });

  it('of gRPC are ASCII, and none is binary', () => {
    checkHeaders('HEADERS', 'api-key=x,B=y', true);
    expect(() => checkHeaders('HEADERS', 'key-bin=x', true)).toThrow(
      'a name that is not allowed for a gRPC text header',
    );
    expect(() => checkHeaders('HEADERS', 'a=%C3%A9', true)).toThrow('has a value for a with characters');
  });
});

describe('resource attributes', () => {
  const made = (text: string): unknown => {
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', text);
    return detectResources({ detectors: [envDetector] }).attributes;
  };

  it.each([
    ['', {}],
    ['a=b, c = d ,', { a: 'b', c: 'd' }],
    ['a=x%2Cy%3Dz,b=%F0%9F%98%80', { a: 'x,y=z', b: '😀' }],
    [`a=${'x'.repeat(255)}`, { a: 'x'.repeat(255) }],
  ])('%j are what the SDK makes of them', (text, attributes) => {
    checkResourceAttributes('ATTRIBUTES', text);
    expect(made(text)).toEqual(attributes);
  });

  it.each([
    [`ok=1,${SECRET}`, 'entry 2, from character 6 on, has no ='],
    [`ok=1,a=b=${SECRET}`, 'entry 2, from character 6 on, has more than one ='],
    [`ok=1,=${SECRET}`, 'entry 2, from character 6 on, has no name before its ='],
    [`ok=1,a=${SECRET}%`, 'entry 2, from character 6 on, has a % in its value'],
    [`ok=1,a=${SECRET.repeat(40)}`, 'entry 2, from character 6 on, is longer than 255 characters'],
  ])('%j are refused, which the SDK would drop as a whole', (text, problem) => {
    expect(() => checkResourceAttributes('ATTRIBUTES', text)).toThrow(`ATTRIBUTES: ${problem}`);
    expect(() => checkResourceAttributes('ATTRIBUTES', text)).toThrow(
      expect.not.objectContaining({ message: new RegExp(SECRET) }),
    );
    expect(made(text)).toEqual({});
  });

  it('take the last value of one that is given twice', () => {
    expect(() => checkResourceAttributes('ATTRIBUTES', 'a=1,b=2,a=3')).not.toThrow();
    expect(made('a=1,b=2,a=3')).toMatchObject({ a: '3', b: '2' });
  });
});

describe('nixl-otel serve', () => {
  it.each([
    ['OTEL_EXPORTER_OTLP_HEADERS', 'otlp'],
    ['OTEL_EXPORTER_OTLP_METRICS_HEADERS', 'otlp'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'prometheus'],
  ])('refuses %s at start, and repeats no value', async (variable, exporter) => {
    const flags = ['--dir', temporaryDirectory(), '--exporter', exporter];
    const { code, stdout, stderr } = await run(['serve', ...flags], { [variable]: `a=${SECRET},Bearer ${SECRET}` });
    expect(stderr).toMatch(new RegExp(`error: ${variable}: entry 2, from character 11 on, has no =; allowed: `));
    expect(stderr).not.toContain(SECRET);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

import { describe, expect, it } from 'vitest';
import { finding, ok } from '../../../src/cli/doctor/finding.js';
import { type Diagnosis, doctorLines } from '../../../src/top/screen/doctor-page.js';

const subject = '/dev/shm/nixl';
const findings = [
  ok('directory', subject, 'the directory exists, with mode 0750 and user 1000'),
  finding('undrained', { subject, what: '2 rings have no consumer', values: { DIR: subject }, status: 'note' }),
  finding('full-undrained', { subject: `${subject}/a\x1b[31m`, what: 'full', values: { DIR: subject } }),
];
const textsOf = (diagnosis: Diagnosis, columns = 60): string[] =>
  doctorLines(diagnosis, columns, true).map((line) => line.map(({ text }) => text).join(''));

describe('the findings of doctor', () => {
  it('stand in lines that fit, problems first, with what mends them', () => {
    const lines = textsOf({ subject, findings });
    expect(lines.map((line) => line.trimEnd())).toEqual([
      ' DOCTOR  /dev/shm/nixl  1 problem, 1 note, 1 ok',
      '',
      ' ◆ problem /dev/shm/nixl/a\\x1b[31m: full',
      '           why: No consumer drains the ring, and its agent',
      '           drops new events.',
      '           do:  nixl-otel serve --dir /dev/shm/nixl',
      '',
      ' ▲ note    /dev/shm/nixl: 2 rings have no consumer',
      '           why: No consumer drains these rings, so nothing',
      '           exports their events.',
      '           do:  nixl-otel serve --dir /dev/shm/nixl',
      '',
      ' ✓ ok      /dev/shm/nixl: the directory exists, with mode',
      '           0750 and user 1000',
    ]);
  });

  it('divide a word that is longer than a line', () => {
    const path = `/${'x'.repeat(100)}`;
    const lines = textsOf({ subject, findings: [ok('directory', path, 'exists')] }, 40);
    expect(Math.max(...lines.slice(2).map((line) => line.length))).toBe(40);
    expect(
      lines
        .slice(2)
        .map((line) => line.slice(11))
        .join(''),
    ).toBe(`${path}: exists`);
  });

  it('are awaited, and a failed run says why', () => {
    expect(textsOf({ subject }).at(-1)).toContain('Looking at');
    expect(textsOf({ subject, failure: 'spawn EAGAIN' }).at(-1)).toBe(' spawn EAGAIN');
  });
});

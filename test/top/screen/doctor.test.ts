/** The doctor that `top` starts, in the built package: it may print anything, and may be killed. */
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Doctor as DoctorClass } from '../../../src/top/screen/doctor.js';
import type { Diagnosis } from '../../../src/top/screen/doctor-page.js';
import { ROOT, temporaryDirectory } from '../../cli/command.js';

const { Doctor } = (await import(path.join(ROOT, 'dist/top/screen/doctor.js'))) as { Doctor: typeof DoctorClass };

/** `preload`: runs in each process of Node.js before its program. */
async function diagnose(preload: string): Promise<Diagnosis> {
  vi.stubEnv('NODE_OPTIONS', `--import=data:text/javascript,${encodeURIComponent(preload)}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const doctor = new Doctor();
  await new Promise<void>((resolve) => doctor.start('all', [['--dir', temporaryDirectory()]], resolve));
  return doctor.diagnosis!;
}

const FINDING = JSON.stringify({ status: 'ok', kind: 'x', subject: 'made up', what: 'by a test' });

describe('the doctor of top', () => {
  it('passes over lines that are no findings', async () => {
    const { findings, failure } = await diagnose(`console.log('a warning\\n[1]\\nnull\\n{"status":"odd"}')`);
    expect(failure).toBeUndefined();
    expect(findings!.length).toBeGreaterThan(0);
    for (const { status } of findings!) expect(['problem', 'note', 'ok']).toContain(status);
  });

  it.each(['SIGKILL', 'SIGTERM'])(
    'says that it was ended by %s, also after a finding and in the midst of one',
    async (signal) => {
      const end = `process.kill(process.pid, '${signal}')`;
      expect(await diagnose(end)).toEqual({ subject: 'all', failure: `doctor was ended by ${signal}` });
      const half = `import { writeSync } from 'node:fs'; writeSync(1, '${FINDING}\\n{"sta'); ${end}`;
      expect(await diagnose(half)).toEqual({ subject: 'all', failure: `doctor was ended by ${signal}` });
    },
  );
});

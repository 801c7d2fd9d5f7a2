/** Compares the signatures of all exports with api-report.txt. After an intended change: `npm run api`. */
import { expect, it } from 'vitest';
import { apiReport } from './support/api-report.js';

it('exports what api-report.txt lists (npm run api updates it)', async () => {
  const report = apiReport({
    '.': 'dist/index.d.ts',
    './rings': 'dist/rings.d.ts',
    './testing': 'dist/testing.d.ts',
    './register': 'dist/register.d.ts',
  });
  await expect(report).toMatchFileSnapshot('api-report.txt');
});

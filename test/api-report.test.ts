/** Compares the signatures of all exports with api-report.txt. After an intended change: `npm run api`. */
import { expect, it } from 'vitest';
import { apiReport } from './support/api-report.js';

it('exports what api-report.txt lists (npm run api updates it)', async () => {
  const report = apiReport({
    '.': 'src/index.ts',
    './rings': 'src/rings.ts',
    './testing': 'src/testing.ts',
    './register': 'src/register.ts',
  });
  await expect(report).toMatchFileSnapshot('api-report.txt');
});

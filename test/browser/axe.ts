/** The rules of axe in the page. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  help: string;
  nodes: { html: string }[];
}

export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate<Violation[]>('axe.run().then(({ violations }) => violations)');
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join('\n')}`);
}

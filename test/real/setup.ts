/** Makes all tools before the tests, because several files use the same ones. */
import { provideCollector, provideNixl, providePrometheus } from './tools.js';

export default async function setup(): Promise<void> {
  await provideNixl();
  await provideCollector();
  await providePrometheus();
}

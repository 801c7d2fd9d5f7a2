import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NixlMetricProducer } from '../../src/index.js';
import { CATEGORIES } from '../../src/mapping/index.js';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { scrape } from '../instrumentation/readers.js';
import { allDrained, temporaryDirectory } from '../support/live.js';

describe('every category reaches Prometheus as counters and gauges', () => {
  for (const [category, word] of CATEGORIES.entries()) {
    it(word.name, async () => {
      const dir = temporaryDirectory();
      const writer = new RingWriter(join(dir, 'service'), { wireVersion: 1 });
      const name = 'something_of_ours';
      for (const value of [3, 39]) writer.push({ category, name, value });
      const producer = new NixlMetricProducer({ directories: [dir], naming: 'nixl', hostname: 'h' });
      onTestFinished(() => producer.close());
      await allDrained(dir);
      const page = await scrape(producer);
      const labels = new RegExp(`event="${name}"`);
      const lines = page.split('\n').filter((line) => labels.test(line));
      expect(lines.some((line) => /^nixl_events_total\{.*\} 2$/.test(line))).toBe(true);
      expect(lines.some((line) => /^nixl_event_value_total\{.*\} 42$/.test(line))).toBe(true);
      expect(lines.some((line) => /^nixl_event_last\{.*\} 39$/.test(line))).toBe(true);
      expect(lines.every((line) => line.includes(`category="${word.name}"`))).toBe(true);
    });
  }
});

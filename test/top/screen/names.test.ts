import { describe, expect, it } from 'vitest';
import { nameLine, sharedStems } from '../../../src/top/screen/names.js';

describe('names', () => {
  it('share their beginnings up to the last separator', () => {
    const stems = sharedStems(['prefill-llama-tp0', 'prefill-llama-tp10', 'decode-llama-tp0', 'router', 'a/b', 'a/c']);
    expect([...stems]).toEqual(['prefill-llama-', 'a/']);
    expect([...sharedStems(['x', 'y', '-', '--'])]).toEqual([]);
  });

  it('have a dim beginning if another name has the same', () => {
    const stems = new Set(['prefill-']);
    expect(nameLine('prefill-tp5', 14, stems)).toEqual([
      { text: 'prefill-', style: 'dim' },
      { text: 'tp5   ', style: 'plain' },
    ]);
    expect(nameLine('decode-tp5', 10, stems).map(({ text }) => text)).toEqual(['', 'decode-tp5']);
  });

  it('are cut in the middle: their ends distinguish them', () => {
    const [dim, rest] = nameLine('prefill-llama70b-tp11', 12, new Set(['prefill-llama70b-']));
    expect(dim).toEqual({ text: 'prefil…', style: 'dim' });
    expect(rest).toEqual({ text: '-tp11', style: 'plain' });
  });
});

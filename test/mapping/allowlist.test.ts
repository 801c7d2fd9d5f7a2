import { describe, expect, it } from 'vitest';
import { allowlist, EVENTS, metricsOf, PRESETS } from '../../src/mapping/index.js';

const selected = (...entries: string[]) => EVENTS.map(({ event }) => event).filter(allowlist(entries).selects);

describe('an allowlist', () => {
  it('selects everything without entries', () => {
    expect(selected()).toHaveLength(EVENTS.length);
    expect(selected('', ' ')).toHaveLength(EVENTS.length);
  });

  it('takes globs over whole names', () => {
    expect(selected('agent_tx_bytes', 'agent_xfer*')).toEqual([
      'agent_tx_bytes',
      'agent_xfer_time',
      'agent_xfer_post_time',
    ]);
    expect(selected('agent_?x_bytes')).toEqual(['agent_tx_bytes', 'agent_rx_bytes']);
    expect(selected('bytes')).toEqual([]);
    expect(selected('agent.tx.bytes')).toEqual([]);
  });

  it('excludes with !', () => {
    expect(selected('!agent_err_*')).toHaveLength(EVENTS.length - 12);
    expect(selected('agent_*_bytes', '!agent_rx_bytes')).toEqual(['agent_tx_bytes']);
  });

  it('lists the entries that match no known event', () => {
    expect(allowlist(['agent_tx_bytes', 'agent_tx_byte', '!typo']).unmatched).toEqual(['agent_tx_byte', '!typo']);
  });

  it('selects all series of an event, and no others', () => {
    const { builders } = PRESETS.full;
    const names = (...entries: string[]) =>
      metricsOf('nixl', { builders, events: allowlist(entries) }).map(({ name }) => name);
    const bytes = names('agent_tx_bytes');
    expect(bytes).toEqual(
      expect.arrayContaining(['agent_tx_bytes_total', 'agent_tx_last_bytes', 'nixl.agent.up', 'nixl.events']),
    );
    for (const name of ['agent_rx_bytes_total', 'nixl.transfer.size', 'nixl.memory.usage'])
      expect(bytes).not.toContain(name);
    expect(names('agent_tx_bytes', 'agent_xfer_time')).toContain('nixl.transfer.size');
    expect(names('agent_memory_*')).toContain('nixl.memory.usage');
  });
});

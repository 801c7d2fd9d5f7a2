import { describe, expect, it } from 'vitest';
import { agentsOn } from '../../../src/cli/top/page-agents.js';

/** As NIXL's own exporter prints it: no ring behind it. */
const NIXL_PAGE = `# HELP agent_tx_bytes_total Number of bytes sent by the agent
# TYPE agent_tx_bytes_total counter
agent_tx_bytes_total{agent_name="agent-0",hostname="vm"} 1638533071000
agent_tx_requests_num_total{agent_name="agent-0",hostname="vm"} 25002000
agent_rx_requests_num_total{agent_name="agent-0",hostname="vm"} 5
agent_errors_total{agent_name="agent-0",hostname="vm",status="canceled"} 2
agent_errors_total{agent_name="agent-0",hostname="vm",status="backend"} 1
agent_xfer_time_us_bucket{agent_name="agent-0",hostname="vm",le="10"} 3
agent_xfer_time_us_bucket{agent_name="agent-0",hostname="vm",le="25"} 7
agent_xfer_time_us_bucket{agent_name="agent-0",hostname="vm",le="+Inf"} 8
process_cpu_seconds_total 12
`;

describe('agentsOn', () => {
  it("reads what NIXL's own exporter prints", () => {
    expect(agentsOn(NIXL_PAGE)).toEqual([
      {
        id: '[["agent_name","agent-0"],["hostname","vm"]]',
        agent: 'agent-0',
        life: 'unknown',
        txBytes: 1638533071000,
        rxBytes: 0,
        requests: 25002005,
        errors: 3,
        lost: 0,
        lostMore: false,
        missed: false,
        transferTimes: { bounds: [10, 25], counts: [3, 4, 1] },
        unused: false,
      },
    ]);
  });

  it('tells agents of one name apart by directory, and by host where there are several', () => {
    const line = (labels: string): string => `nixl_agent_up{agent_name="a",${labels}} 1\n`;
    const page = line('hostname="h",ring_directory="/x"') + line('hostname="h",ring_directory="/y"');
    expect(agentsOn(page).map(({ place }) => place)).toEqual(['/x', '/y']);
    expect(agentsOn(line('hostname="h"') + line('hostname="i"')).map(({ place }) => place)).toEqual(['h', 'i']);
  });

  it('reads names with every escape, and numbers of every form', () => {
    const page = 'nixl_ring_full_total{nixl_agent_name="a\\"b\\\\c\\nd}, x=\\"y"} 1.5e+01 1700000000\n';
    expect(agentsOn(page)[0]).toMatchObject({ agent: 'a"b\\c\nd}, x="y', lostMore: true });
    expect(agentsOn('nixl_ring_utilization{agent_name="a"} NaN\n')[0]).not.toHaveProperty('fill');
  });

  it.each(['\r', '\u2028', '\u2029'])('reads names with %j in them', (char) => {
    expect(agentsOn(`nixl_agent_up{agent_name="a${char}b"} 1\n`)).toMatchObject([{ agent: `a${char}b` }]);
  });

  it('takes an agent for dead only where the page says so', () => {
    const life = (up: number) => agentsOn(`nixl_agent_up{nixl_agent_name="a"} ${up}\n`)[0]!.life;
    expect([life(0), life(1)]).toEqual(['dead', 'unknown']);
  });

  it('finds nothing on a page of something else, and in nothing', () => {
    expect(agentsOn('<html>agent_tx_bytes_total</html>\nup 1\nagent_tx_bytes_totals{agent_name="x"} 1\n')).toEqual([]);
    expect(agentsOn('')).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { agentsIn } from '../../src/top/exposition.js';

/** Exposition of NIXL's own exporter, which uses no ring. */
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
    expect(agentsIn(NIXL_PAGE)).toEqual([
      {
        id: '[["agent_name","agent-0"],["hostname","vm"]]',
        agent: 'agent-0',
        name: 'agent-0',
        life: 'unknown',
        txBytes: 1638533071000,
        rxBytes: 0,
        txRequests: 25002000,
        rxRequests: 5,
        errors: [2, 1],
        errorStatuses: ['canceled', 'backend'],
        dropped: 0,
        lost: 0,
        suspect: false,
        transferTimesUs: { bounds: [10, 25], counts: [3, 4, 1] },
        unused: false,
      },
    ]);
  });

  it('distinguishes agents of one name by directory, and by host if there are several', () => {
    const line = (labels: string): string => `nixl_agent_up{agent_name="a",${labels}} 1\n`;
    const page = line('hostname="h",ring_directory="/x"') + line('hostname="h",ring_directory="/y"');
    expect(agentsIn(page).map(({ place }) => place)).toEqual(['/x', '/y']);
    expect(agentsIn(line('hostname="h"') + line('hostname="i"')).map(({ place }) => place)).toEqual(['h', 'i']);
  });

  it('joins series with the labels of a process and those without', () => {
    const agents = ['a', 'b'].map((agent, i) => {
      const own = `agent_name="${agent}",hostname="h"`;
      const process = `,pid="${i === 0 ? '77' : ''}",agent_instance="${i === 0 ? '0' : ''}",local_rank=""`;
      return [
        `nixl_agent_up{${own}} ${i}`,
        `agent_tx_bytes_total{${own}${process}} 5`,
        `agent_errors_total{${own}${process},status="canceled"} 2`,
        `nixl_ring_utilization{${own}} 0.5`,
      ].join('\n');
    });
    expect(agentsIn(agents.join('\n'))).toMatchObject([
      { agent: 'a', life: 'dead', txBytes: 5, errors: [2], fill: 0.5 },
      { agent: 'b', life: 'alive', txBytes: 5, errors: [2], fill: 0.5 },
    ]);
    expect(agentsIn(agents.join('\n'))).toHaveLength(2);
  });

  it('distinguishes agents of one name in several processes, as NIXL does', () => {
    const page = ['1', '2'].map((pid) => `agent_tx_bytes_total{agent_name="a",hostname="h",pid="${pid}"} ${pid}`);
    expect(agentsIn(page.join('\n')).map(({ txBytes }) => txBytes)).toEqual([1, 2]);
  });

  it("reads the sums of NIXL's release 1.0", () => {
    const labels = '{agent_name="a",category="NIXL_TELEMETRY_TRANSFER",hostname="h"}';
    const page = `agent_tx_bytes${labels} 7\nagent_rx_bytes${labels} 8\nagent_tx_requests_num${labels} 9\nagent_rx_requests_num${labels} 1\n`;
    expect(agentsIn(page)).toMatchObject([{ txBytes: 7, rxBytes: 8, txRequests: 9, rxRequests: 1 }]);
  });

  it('counts failures without a status, as those of an exporter that drops the label', () => {
    const page = 'agent_errors_total{agent_name="a"} 4\nagent_errors_total{agent_name="a",status="backend"} 1\n';
    expect(agentsIn(page)).toMatchObject([{ errors: [4, 1], errorStatuses: ['unknown', 'backend'] }]);
  });

  it('reads names with every escape, and numbers of every form', () => {
    const page = 'nixl_ring_full_total{nixl_agent_name="a\\"b\\\\c\\nd}, x=\\"y"} 1.5e+01 1700000000\n';
    expect(agentsIn(page)[0]).toMatchObject({ agent: 'a"b\\c\nd}, x="y', foundFull: 15 });
    expect(agentsIn('nixl_ring_utilization{agent_name="a"} NaN\n')[0]!.fill).toBeUndefined();
  });

  it.each(['\r', '\u2028', '\u2029'])('reads names with %j in them', (char) => {
    expect(agentsIn(`nixl_agent_up{agent_name="a${char}b"} 1\n`)).toMatchObject([{ agent: `a${char}b` }]);
  });

  it('takes the life of an agent from nixl_agent_up, and knows nothing of it without', () => {
    const life = (line: string) => agentsIn(`nixl_ring_suspect{nixl_agent_name="a"} 0\n${line}`)[0]!.life;
    const up = (value: number): string => `nixl_agent_up{nixl_agent_name="a"} ${value}\n`;
    expect([life(up(0)), life(up(1)), life('')]).toEqual(['dead', 'alive', 'unknown']);
  });

  it("takes an answer of NIXL's own exporter, which runs in the agent's process, as a sign of life", () => {
    const page = 'exposer_scrapes_total 3\nagent_tx_bytes_total{agent_name="a"} 1\n';
    expect(agentsIn(page)).toMatchObject([{ agent: 'a', life: 'alive' }]);
  });

  it('finds no agents in another text or in an empty one', () => {
    expect(agentsIn('<html>agent_tx_bytes_total</html>\nup 1\nagent_tx_bytes_totals{agent_name="x"} 1\n')).toEqual([]);
    expect(agentsIn('')).toEqual([]);
  });
});

/** An agent's pid that another process has got: that process is not read. */
import { diag } from '@opentelemetry/api';
import { expect, it, vi } from 'vitest';
import { AgentAttributes } from '../../src/instrumentation/agents/agent-attributes.js';
import { DiagOnce } from '../../src/instrumentation/feed/diag-once.js';
import { AttributeRegistry } from '../../src/mapping/index.js';
import * as agentProcess from '../../src/shm-bridge/agent-process.js';
import { agentSnapshot } from './in-memory-source.js';

vi.mock('../../src/shm-bridge/agent-process.js', { spy: true });

const registry = new AttributeRegistry([
  { name: 'pid', source: 'pid', type: 'integer' },
  { name: 'rank', source: 'local_rank', type: 'integer' },
  { name: 'container', source: 'container_id' },
]);

/** `starts`: start times of the process with the agent's pid, in the order in which they are read. */
function attributesOf(life: 'alive' | 'dead', starts: string[]) {
  vi.mocked(agentProcess.processStart).mockImplementation(() => starts.shift());
  const readProcess = vi.fn((pid: number) => ({ pid, environment: { RANK: '4' } }));
  const identity = { name: 'a', containerId: 'c1', podUid: undefined, isHidden: false };
  const readIdentity = vi.fn(() => identity);
  const options = { registry, hostname: 'h', rankVariable: 'RANK', log: new DiagOnce(diag), readProcess, readIdentity };
  return {
    readProcess,
    attributes: new AgentAttributes(options).of(agentSnapshot({ id: 1, agent: 'a', pid: 7, life })),
  };
}

it('gives the agent its own attributes only', () => {
  expect(attributesOf('alive', ['100', '100']).attributes).toEqual({ pid: 7, rank: 4, container: 'c1' });
  expect(attributesOf('alive', ['100', '200']).attributes).toEqual({ pid: 7 });
  expect(attributesOf('alive', ['100']).attributes).toEqual({ pid: 7 });
  const { readProcess, attributes } = attributesOf('dead', ['200', '200']);
  expect(attributes).toEqual({ pid: 7 });
  expect(readProcess).not.toHaveBeenCalled();
});

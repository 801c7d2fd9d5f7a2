/** Models of agents for tests of whatever reads them. */
import type { AgentModel } from '../../src/view/model/agent-model.js';

export function agentModel(name: string, about: Partial<AgentModel<string>> = {}): AgentModel<string> {
  const counts = { txBytes: 0, rxBytes: 0, txRequests: 0, rxRequests: 0, errors: [], dropped: 0, lost: 0 };
  return { id: name, agent: name, name, life: 'alive', ...counts, idleMs: 20, suspect: false, ...about };
}

/** Returns failed operations by status as an agent of top has them. */
export function failed(byStatus: Readonly<Record<string, number>>) {
  return { errors: Object.values(byStatus), errorStatuses: Object.keys(byStatus) };
}

/** The labels of NIXL's own series, by the exporter of NIXL that prints them. */
import { AttributeRegistry, type AttributeSpec } from './attributes.js';
import { prometheusSpelling } from './naming.js';

export const NIXL_LABELS = ['prometheus', 'prometheus_mp'] as const;
export type NixlLabels = (typeof NIXL_LABELS)[number];
export const DEFAULT_NIXL_LABELS: NixlLabels = 'prometheus';

/** Labels beside `hostname` and `agent_name`. Empty where the process behind the agent cannot be seen. */
const SPECS: Readonly<Record<NixlLabels, readonly AttributeSpec[]>> = {
  prometheus: [],
  prometheus_mp: [
    { name: 'pid', source: 'pid', type: 'text', default: '' },
    { name: 'agent_instance', source: 'agent_instance', type: 'text', default: '' },
    { name: 'local_rank', source: 'local_rank', type: 'text', default: '' },
  ],
};

export function nixlLabelRegistry(labels: NixlLabels): AttributeRegistry {
  return new AttributeRegistry(SPECS[labels]);
}

/** Label that an attribute of this name would collide with. */
export function takenNixlLabel(labels: NixlLabels, attribute: string): string | undefined {
  return SPECS[labels].find(({ name }) => prometheusSpelling(name) === prometheusSpelling(attribute))?.name;
}

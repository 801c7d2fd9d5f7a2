/** The button of a finding about slow transfers that takes their present times as usual. */
import { ACCEPT_PATH } from '../../view/answers/answer.js';
import { isAcceptable } from '../../view/slowness/slow-facts.js';
import type { Finding } from '../../view/verdict/types.js';
import { announce, element, setText } from './common/dom.js';

const TEXT = 'Take as usual';

export function acceptButton(): HTMLButtonElement {
  const title = 'From now on these times are usual, for example after a planned change';
  return element('button', { type: 'button', class: 'button', title }, TEXT);
}

/** Makes the button that of a finding. */
export function aimAccept(button: HTMLButtonElement, finding: Finding): void {
  button.hidden = !isAcceptable(finding);
  button.onclick = () => void accept(button, finding.agents);
}

/** serve refuses it to clients of other hosts that are not its users: then the button has the reason. */
async function accept(button: HTMLButtonElement, ids: Finding['agents']): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const text = await fetch(ACCEPT_PATH, { method: 'POST', headers, body: JSON.stringify({ ids }) }).then(
    async (answer) => (answer.ok ? '' : await answer.text()),
    String,
  );
  setText(button, text || TEXT);
  announce(text || 'These times are usual from now on.');
}

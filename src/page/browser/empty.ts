/** Shows, in place of figures while there is no agent, the things to check and the state of serve. */
import type { AgentsAnswer } from '../../view/answers/answer.js';
import { intervalText, spanText } from '../../ground/figures/clock.js';
import { plural } from '../../ground/figures/figure.js';
import type { ServedAgent } from '../../view/model/agent-model.js';
import type { Tone } from '../../view/verdict/types.js';
import { byId, element, icon, type IconName, setIcon, setRows, setText } from './common/dom.js';

interface Sight {
  readonly tone: Tone;
  readonly shape: IconName;
  readonly what: string;
  readonly more: string;
}

const MOST_PROBLEMS = 5;

export function showEmpty(answer: AgentsAnswer<ServedAgent>): void {
  const directory = directoryIn(answer);
  setText(byId('variables'), `NIXL_TELEMETRY_ENABLE=y\nNIXL_TELEMETRY_DIR=${directory}`);
  setText(byId('doctor'), `nixl-otel doctor --dir ${/^[\w./-]+$/.test(directory) ? directory : `'${directory}'`}`);
  setRows(byId('sights'), sightsOf(answer), sightRow, (row, { tone, shape, what, more }) => {
    const [sign, texts] = row.children as unknown as HTMLElement[];
    row.dataset['tone'] = tone;
    setIcon(sign!, shape);
    setText(texts!.children[0]!, what);
    setText(texts!.children[1]!, more);
  });
}

/** Returns the first directory, or that of the first glob: there is one of both. */
function directoryIn({ directories, globs }: AgentsAnswer<ServedAgent>): string {
  return directories[0] ?? globs[0]!.replace(/\/[^/]*$/, '');
}

function sightRow(): HTMLElement {
  return element('li', {}, icon('tick'), element('div', {}, element('p', {}), element('p', { class: 'soft' })));
}

function sightsOf({ directories, globs, collector, problems, problemCount }: AgentsAnswer<ServedAgent>): Sight[] {
  const { sinceTickMs } = collector;
  const looked = sinceTickMs < 1000 ? 'looked within the last second' : `looked ${spanText(sinceTickMs)} ago`;
  const nothing = [
    ...directories.map((directory) => `No rings in ${directory}`),
    ...globs.map((glob) => `No ring matches ${glob}`),
  ];
  const places = nothing.map((what): Sight => ({ tone: 'info', shape: 'ring', what, more: looked }));
  const warning = (what: string, more: string): Sight => ({ tone: 'warn', shape: 'triangle', what, more });
  const interval = `one every ${intervalText(collector.drainIntervalMs)}`;
  const turns: Sight =
    collector.lateMs === undefined
      ? { tone: 'ok', shape: 'tick', what: 'The collector thread has its turns', more: interval }
      : warning('The collector thread is late', interval);
  const listed = problems.slice(0, MOST_PROBLEMS);
  const unreadable = listed.map(({ path, state, reason }) => warning(`${path} is ${state}`, reason));
  const rest = problemCount - listed.length;
  return [...places, turns, ...unreadable, ...(rest > 0 ? [warning(`and ${plural(rest, 'more file')}`, '')] : [])];
}

/** Lets the buttons copy the text beside them. A page without TLS has no clipboard: then the text is selected. */
export function makeCopyButtons(): void {
  for (const button of document.querySelectorAll<HTMLElement>('.copy')) {
    const text = button.previousElementSibling!;
    button.addEventListener('click', () => {
      getSelection()?.selectAllChildren(text);
      const copied = navigator.clipboard as Clipboard | undefined;
      copied?.writeText(text.textContent).then(
        () => setText(button, 'Copied'),
        () => setText(button, 'Selected'),
      );
      if (copied === undefined) setText(button, 'Selected');
    });
  }
}

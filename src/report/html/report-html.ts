/** A report as one file of HTML: it loads nothing, and has no scripts. Pure but for the page's colours. */
import { readFileSync } from 'node:fs';
import { dateAndTime, timeZone } from '../../ground/figures/clock.js';
import { bytesText, numberText, plural } from '../../ground/figures/figure.js';
import { packageFolder } from '../../ground/package.js';
import { decadesOf } from '../../view/sizes/class-strip.js';
import { type ReportPart, reportParts } from '../report-parts.js';
import { outcomeText } from '../report-words.js';
import type { RunReport } from '../run-report.js';
import { escapedText, joinedMarkup, type Markup, tag } from './markup.js';
import { rateChart } from './rate-chart.js';
import { strip, timePlot } from './size-drawings.js';
import { STYLES } from './styles.js';

/** A file may be mailed, and opened by anyone: nothing in it may run or be loaded. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export function reportHtml(report: RunReport): string {
  const title = `nixl-otel run on ${report.hostname}`;
  const chart = rateChart(report);
  const parts = reportParts(report).filter(({ isOverTime }) => isOverTime !== true);
  const head = tag(
    'head',
    {},
    tag('meta', { charset: 'utf-8' }),
    tag('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    tag('meta', { 'http-equiv': 'Content-Security-Policy', content: POLICY }),
    tag('title', {}, escapedText(title)),
    tag('style', {}, `${themeColours()}${STYLES}` as Markup),
  );
  const body = tag(
    'body',
    {},
    tag(
      'header',
      {},
      tag('h1', {}, escapedText(title)),
      tag('p', { class: 'outcome' }, escapedText(outcomeText(report))),
      tag(
        'p',
        { class: 'soft' },
        escapedText(`${dateAndTime(report.run.beginMs)} ${timeZone()}; nixl-otel ${report.version}`),
      ),
    ),
    tag('main', {}, facts(report), chart === undefined ? [] : section('Moved over time', chart), parts.map(partMarkup)),
  );
  return `<!doctype html>\n${tag('html', { lang: 'en' }, head, body)}\n`;
}

/** Without its font, which is a file of its own. */
function themeColours(): string {
  const file = new URL('dist/page/browser/styles/theme.css', packageFolder('the colours of the live page'));
  return readFileSync(file, 'utf8').replace(/@font-face \{.*?\}\n/s, '');
}

function facts({ totals, agents }: RunReport): Markup {
  const { txBytes, rxBytes, txTransfers, rxTransfers, errors, lost } = totals;
  const pairs: readonly (readonly [label: string, value: string, isBad: boolean])[] = [
    ['tx', bytesText(txBytes), false],
    ['rx', bytesText(rxBytes), false],
    ['Transfers', numberText(txTransfers + rxTransfers), false],
    ['Agents', numberText(agents.length), false],
    ['Failed', numberText(errors), errors > 0],
    ['Lost', lost > 0 ? `at least ${plural(lost, 'event')}` : 'nothing', lost > 0],
  ];
  return tag(
    'dl',
    { class: 'card facts' },
    pairs.map(([label, value, isBad]) =>
      tag(
        'div',
        {},
        tag('dt', {}, escapedText(label)),
        tag('dd', { class: isBad ? 'bad' : undefined }, escapedText(value)),
      ),
    ),
  );
}

function section(title: string | undefined, ...content: readonly Markup[]): Markup {
  return tag('section', { class: 'card' }, title === undefined ? [] : tag('h2', {}, escapedText(title)), content);
}

function partMarkup({ title, headings = [], rows = [], lines, sizes }: ReportPart): Markup {
  const range = sizes && decadesOf(sizes.classes.flatMap(({ p50Us, maxUs }) => [p50Us, maxUs]));
  const strips = range === undefined ? [] : sizes!.classes.map((one) => strip(one, range));
  const head = tag(
    'tr',
    {},
    headings.map(headingMarkup),
    strips.length === 0 ? [] : tag('th', { scope: 'col' }, escapedText('SPREAD')),
  );
  const body = rows.map((row, i) =>
    tag('tr', {}, row.map(cellMarkup), strips.length === 0 ? [] : tag('td', { class: 'strip' }, strips[i]!)),
  );
  const table = tag('table', {}, tag('thead', {}, head), tag('tbody', {}, body));
  return section(
    title,
    ...(rows.length === 0
      ? []
      : [tag('div', { class: 'scroller', tabindex: 0, role: 'group', 'aria-label': title ?? 'Agents' }, table)]),
    ...linesMarkup(lines),
    ...(range === undefined ? [] : [timePlot(sizes!, range)]),
  );
}

function headingMarkup(text: string): Markup {
  return text === '' ? tag('td', {}) : tag('th', { scope: 'col' }, escapedText(text));
}

function cellMarkup(text: string, i: number): Markup {
  return i === 0 && text !== '' ? tag('th', { scope: 'row' }, escapedText(text)) : tag('td', {}, escapedText(text));
}

function linesMarkup(lines: readonly string[]): readonly Markup[] {
  if (lines.length <= 1) return lines.map((line) => tag('p', {}, escapedText(line)));
  return [tag('ul', {}, joinedMarkup(lines.map((line) => tag('li', {}, escapedText(line)))))];
}

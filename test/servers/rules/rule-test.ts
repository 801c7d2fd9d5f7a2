/** Unit tests of rules for promtool, written once for all spellings of the series. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT, temporaryDirectory } from '../../cli/command.js';
import { program } from '../server.js';
import { type Concept, type Labels, seriesText, spelled, type Spelling } from './spelled.js';

const exec = promisify(execFile);
const RULES = path.join(ROOT, 'deploy/prometheus');
export const RULE_FILES = ['recording-rules.yml', 'alerts.yml'].map((file) => path.join(RULES, file));

type Input = readonly [concept: Concept | 'serve', labels: Labels, values: string];

/** Expected result of an expression: labels with the name, and values. */
type Sample = readonly [labels: string, value: number];

export interface RuleCase {
  readonly name: string;
  /**
   * Samples from minute 0 on, one each `interval`. `serve`: 1 where it answers, 0 where it does not, `_` where Prometheus does not run.
   * It is `up` of a scrape; by OTLP there are ticks of the collector while it answers.
   */
  readonly input: readonly Input[];
  /** Time between two samples, and between two evaluations. Default: a minute. */
  readonly interval?: '15s';
  /** Native histograms: their values differ between the namings. */
  readonly inputOf?: (spelling: Spelling) => readonly Input[];
  readonly checks: readonly (readonly [expression: string, minute: number, samples: readonly Sample[]])[];
  /** Returns whether a spelling has the series of this case: by default each has them. */
  readonly isFor?: (spelling: Spelling) => boolean;
}

function inputText([concept, labels, values]: Input, spelling: Spelling): { series: string; values: string } {
  const all = { job: 'nixl-otel', ...labels };
  if (concept !== 'serve') return { series: spelled(concept, all, spelling), values };
  if (!spelling.isOtlp) return { series: seriesText('up', all), values };
  const pushed = values.replace(/(^| )0/g, '$1_');
  return { series: spelled('ticks', all, spelling), values: pushed };
}

/** Runs the cases. @throws with promtool's answer if one fails. */
export async function testRules(cases: readonly RuleCase[], spelling: Spelling): Promise<void> {
  await exec(program('promtool'), ['check', 'rules', ...RULE_FILES]);
  const wanted = cases.filter(({ isFor = () => true }) => isFor(spelling));
  for (const interval of ['1m', '15s'] as const) {
    const tests = wanted
      .filter((one) => (one.interval ?? '1m') === interval)
      .map(({ name, input, inputOf = () => [], checks }) => ({
        name,
        interval,
        input_series: [...input, ...inputOf(spelling)].map((one) => inputText(one, spelling)),
        promql_expr_test: checks.map(([expr, minute, samples]) => ({
          expr,
          eval_time: `${minute}m`,
          exp_samples: samples.map(([labels, value]) => ({ labels, value })),
        })),
      }));
    await testSeries(tests, interval);
  }
}

/** A test in promtool's own words. */
export interface SeriesTest {
  readonly name: string;
  /** Time between two samples. */
  readonly interval: string;
  readonly input_series: readonly { series: string; values: string }[];
  readonly promql_expr_test: readonly {
    expr: string;
    eval_time: string;
    exp_samples: readonly { labels: string; value: number }[];
  }[];
}

/** Runs tests with the shipped rules. @throws with promtool's answer if one fails. */
export async function testSeries(tests: readonly SeriesTest[], evaluation_interval = '1m'): Promise<void> {
  const file = path.join(temporaryDirectory(), 'rules.test.yml');
  // Without an order promtool evaluates groups in a random one, and an alert may see what a group recorded a minute ago.
  const texts = RULE_FILES.map((rules) => readFileSync(rules, 'utf8'));
  const group_eval_order = texts.flatMap((text) =>
    [...text.matchAll(/^ {2}- name: (\S+)$/gm)].map(([, name]) => name!),
  );
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ rule_files: RULE_FILES, evaluation_interval, group_eval_order, tests }));
  await exec(program('promtool'), ['test', 'rules', file]);
}

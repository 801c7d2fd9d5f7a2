/** PromQL that finds a metric in each spelling, and gives its labels one name. */
import { formsOf, LABELS } from './spellings.mjs';

/** Labels of a target. Those that a Prometheus does not set are empty and do no harm. */
export const TARGET = ['cluster', 'namespace', 'node', 'job', 'instance'];

/**
 * Labels by which a series of a recorded increase is known again. All others may change while its counter goes on: `hostname` with
 * the pod of nixl-otel, and attributes with the process of the agent.
 */
const OF_INCREASES = ['agent', 'direction', 'status', 'outcome'];
const IDENTITY = [...TARGET, ...OF_INCREASES.flatMap((label) => LABELS[label])].join(', ');

/**
 * Clusters whose Prometheus ran six to ten minutes ago. A minute more than that of a first sample: the targets of a Prometheus
 * that has just started have their first samples one after the other. One ruler may have the series of several clusters, each
 * from a separate Prometheus. Without a label `cluster` all are one.
 */
const RAN_BEFORE =
  'on (cluster) group by (cluster) (last_over_time({__name__=~"up|nixl_collector_ticks_total"}[4m] offset 6m))';

/** Labels of an agent. */
export const BY_AGENT = ['instance', 'agent'];

const INFO = 'nixl.agent.info';

/** Returns the aggregate of an expression by these labels, in their one name. */
export function by(labels, expression, aggregate = 'sum') {
  const named = labels
    .filter((label) => label in LABELS)
    .reduce((inner, label) => {
      const sources = LABELS[label].map((source) => `"${source}"`).join(', ');
      return `label_join(${inner}, "${label}", "", ${sources})`;
    }, expression);
  return labels.length === 0 ? `${aggregate}(${named})` : `${aggregate} by (${labels.join(', ')}) (${named})`;
}

/** Job under which the shipped configurations scrape serve, and under which it pushes. */
export const JOB = 'job="nixl-otel"';

export class Queries {
  #metrics;
  #matchers;

  /** `matchers`: of every series, of those that belong to an agent, and of `nixl.agent.info` in the place of the first. */
  constructor({ metrics }, matchers = { target: '', agent: '' }) {
    this.#metrics = new Map(metrics.map((metric) => [metric.name, metric]));
    this.#matchers = matchers;
  }

  values(name) {
    return this.#over(name, (series) => series);
  }

  /** Values of the series that have these labels, in their one name. */
  valuesOf(name, labels) {
    const matchers = Object.entries(labels).flatMap(([label, value]) =>
      LABELS[label].map((source) => `${source}=~"|${value}"`),
    );
    return this.#over(name, (series) => series, undefined, matchers);
  }

  /** One series of `nixl.agent.info` with these labels for each agent of the last five minutes: the present one comes before an earlier one. */
  infos(labels) {
    const all = [...BY_AGENT, ...labels];
    const found = this.#over(INFO, (series) => `(timestamp(${series}) or last_over_time(${series}[5m]))`);
    return `group by (${all.join(', ')}) (topk by (${BY_AGENT.join(', ')}) (1, ${by(all, found, 'max')}))`;
  }

  /** Adds `display_name` to an expression by agent. Instruments of the API have no series of names: then it is NIXL's own name. */
  named(expression) {
    const agents = by(BY_AGENT, this.last('nixl.ring.suspect', '5m'), 'group');
    const own = `label_join(${agents}, "display_name", "", "agent")`;
    const on = `on (${BY_AGENT.join(', ')})`;
    return `(${expression}) * ${on} group_left (display_name) (${this.infos(['display_name'])} or ${on} ${own})`;
  }

  /** Value at the end of the range, also of a series that has ended since. */
  last(name, range, matchers = []) {
    return this.#over(name, (series) => `last_over_time(${series}[${range}])`, undefined, matchers);
  }

  /** Series of a metric in any form, with the labels and units that they have. */
  ofJob(name) {
    const names = formsOf(this.#metric(name)).flatMap((form) => form.names);
    return this.#selector(name, { names }, '', [JOB]);
  }

  /** `up` of the targets of the job, or of all. */
  up(...jobs) {
    return selected('up', [...jobs, this.#matchers.target]);
  }

  /** `up` of targets without an answer: of the job, and of others that have reported ticks within the last hour. */
  unanswered() {
    return `${this.up(JOB)} == 0
or ${this.up()} == 0 and on (cluster, job, instance) ${this.last('nixl.collector.ticks', '1h')}`;
  }

  rate(name, range, direction) {
    return this.#over(name, (series) => `rate(${series}[${range}])`, direction);
  }

  increase(name, range) {
    return this.#over(name, (series) => `increase(${series}[${range}])`);
  }

  /** Increase in five minutes. Of a series that is younger, the value itself. */
  increaseWithFirst(name) {
    const first = (series) =>
      `${series} unless on (${IDENTITY}) present_over_time(${series}[5m] offset 5m) and ${RAN_BEFORE}`;
    return this.#over(name, (series) => `(${first(series)} or increase(${series}[5m]))`);
  }

  /** From native histograms where Prometheus has them, otherwise from buckets. */
  quantile(quantile, name, labels, range) {
    return this.#histograms(name, (series) => [
      `histogram_quantile(${quantile}, ${by(labels, `rate(${series()}[${range}])`)})`,
      `histogram_quantile(${quantile}, ${by([...labels, 'le'], `rate(${series('_bucket')}[${range}])`)})`,
    ]);
  }

  mean(name, labels, range) {
    const rate = (selected) => by(labels, `rate(${selected}[${range}])`);
    return this.#histograms(name, (series) => [
      `histogram_avg(${rate(series())})`,
      `${rate(series('_sum'))} / ${rate(series('_count'))}`,
    ]);
  }

  /** Rate of the sum of all values. */
  sumRate(name, labels, range) {
    const rate = (selected) => by(labels, `rate(${selected}[${range}])`);
    return this.#histograms(name, (series) => [`histogram_sum(${rate(series())})`, rate(series('_sum'))]);
  }

  /** Returns the rates of histograms by the unit of their bounds: native ones where these labels have any, otherwise classic ones. */
  histograms(name, labels, range) {
    return formsOf(this.#metric(name)).map((form) => {
      const rate = (suffix, more = []) =>
        by([...labels, ...more], `rate(${this.#selector(name, form, suffix)}[${range}])`);
      const native = rate('');
      const expr = `${native} or ${rate('_bucket', ['le'])} unless on (${labels.join(', ')}) ${native}`;
      return { unit: form.divisor === 1 ? 's' : 'us', expr };
    });
  }

  /** Counts by bucket, in the unit of the naming. */
  buckets(name, range) {
    const forms = formsOf(this.#metric(name)).flatMap((form) => [
      `sum(increase(${this.#selector(name, form, '')}[${range}]))`,
      `sum by (le) (increase(${this.#selector(name, form, '_bucket')}[${range}]))`,
    ]);
    return forms.join('\nor ');
  }

  #metric(name) {
    const metric = this.#metrics.get(name);
    if (metric === undefined) throw new Error(`there is no metric ${name}`);
    return metric;
  }

  #over(name, expressionOf, direction, matchers = []) {
    const forms = formsOf(this.#metric(name)).filter(
      ({ adds }) => direction === undefined || adds.direction === undefined || adds.direction === direction,
    );
    const expressions = forms.map((form) => {
      const isOwnLabel = direction !== undefined && form.adds.direction === undefined;
      const more = isOwnLabel ? [...matchers, `${LABELS.direction[1]}="${direction}"`] : matchers;
      const expression = expressionOf(this.#selector(name, form, '', more));
      const scaled = form.divisor === 1 ? expression : `${expression} / ${form.divisor}`;
      return Object.entries(form.adds).reduce(
        (inner, [label, value]) => `label_replace(${inner}, "${label}", "${value}", "", "")`,
        scaled,
      );
    });
    return expressions.join('\nor ');
  }

  #histograms(name, expressionsOf) {
    const expressions = formsOf(this.#metric(name)).flatMap((form) =>
      expressionsOf((suffix = '') => this.#selector(name, form, suffix)).map((expression) =>
        form.divisor === 1 ? expression : `${expression} / ${form.divisor}`,
      ),
    );
    return expressions.join('\nor ');
  }

  #selector(name, { names }, suffix, more = []) {
    const spelled = names.map((one) => `${one}${suffix}`);
    const { target, agent, info = target } = this.#matchers;
    const matchers = [name === INFO ? info : target, this.#metric(name).ofAgent ? agent : '', ...more];
    if (spelled.length > 1) return selected('', [`__name__=~"${spelled.join('|')}"`, ...matchers]);
    return selected(spelled[0], matchers);
  }
}

/** Returns a selector. Empty matchers are left out. */
function selected(name, matchers) {
  const given = matchers.filter((matcher) => matcher !== '');
  return given.length === 0 ? name : `${name}{${given.join(', ')}}`;
}

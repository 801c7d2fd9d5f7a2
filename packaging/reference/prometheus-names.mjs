/**
 * Names that a Prometheus gives to metrics that it gets by OTLP, by the specification's translation ("Prometheus and
 * OpenMetrics Compatibility", OTLP metric points to Prometheus) and by Prometheus' default strategy,
 * UnderscoreEscapingWithSuffixes. https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/
 */

/** Words for UCUM units. A unit outside of both tables is its own word. */
const UNITS = {
  d: 'days',
  h: 'hours',
  min: 'minutes',
  s: 'seconds',
  ms: 'milliseconds',
  us: 'microseconds',
  ns: 'nanoseconds',
  By: 'bytes',
  KiBy: 'kibibytes',
  MiBy: 'mebibytes',
  GiBy: 'gibibytes',
  TiBy: 'tebibytes',
  KBy: 'kilobytes',
  MBy: 'megabytes',
  GBy: 'gigabytes',
  TBy: 'terabytes',
  m: 'meters',
  V: 'volts',
  A: 'amperes',
  J: 'joules',
  W: 'watts',
  g: 'grams',
  Cel: 'celsius',
  Hz: 'hertz',
  1: '',
  '%': 'percent',
};
const PER_UNITS = { s: 'second', m: 'minute', h: 'hour', d: 'day', w: 'week', mo: 'month', y: 'year' };

/** Returns the name of the metric's family. An up-down counter and a gauge are both gauges. */
export function translatedName({ name, kind, unit }) {
  let words = wordsOf(name);
  const [main, per] = unit.split('/', 2);
  const unitWord = wordOf(main, UNITS);
  const perWord = per === undefined ? '' : wordOf(per, PER_UNITS);
  if (unitWord !== '' && !words.includes(unitWord)) words.push(unitWord);
  if (perWord !== '' && !words.includes(perWord)) words.push('per', perWord);
  if (kind === 'counter') words = [...words.filter((word) => word !== 'total'), 'total'];
  const isGauge = kind === 'gauge' || kind === 'updowncounter';
  if (unit === '1' && isGauge) words = [...words.filter((word) => word !== 'ratio'), 'ratio'];
  const translated = words.join('_');
  return /^\d/.test(translated) ? `_${translated}` : translated;
}

/** Returns the names of all series of a metric. A histogram has three, and no other family may have their names or its own. */
export function translatedSeries(metric) {
  const name = translatedName(metric);
  return metric.kind === 'histogram' ? [name, `${name}_bucket`, `${name}_count`, `${name}_sum`] : [name];
}

/** Drops all other characters, so that several in a row become one underscore. */
function wordsOf(text) {
  return text.split(/[^A-Za-z0-9:]+/).filter((word) => word !== '');
}

/** An annotation such as `{event}` is dropped. */
function wordOf(unit, words) {
  const bare = unit.trim();
  if (bare === '' || /[{}]/.test(bare)) return '';
  return words[bare] ?? wordsOf(bare).join('_');
}

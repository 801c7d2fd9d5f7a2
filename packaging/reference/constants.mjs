/** Comments of the constants in src/mapping/semconv.ts. */

const KINDS = { counter: 'Counter', gauge: 'Gauge', histogram: 'Histogram', updowncounter: 'UpDownCounter' };

/** Replaces the comment of each constant of a metric. */
export function withComments(source, { metrics }) {
  return source.replace(/(?:\/\*\*.*\*\/\n)?(export const METRIC_\w+ = '([^']+)')/g, (_, constant, name) => {
    const metric = metrics.find((one) => one.name === name);
    if (metric === undefined) throw new Error(`no table has ${name}`);
    return `/** ${commentOf(metric)} */\n${constant}`;
  });
}

function commentOf({ kind, unit, builder, group, description }) {
  const ofBuilder = group === 'request' && builder !== 'custom' ? [`builder \`${builder}\``] : [];
  return `${[KINDS[kind], unit, ...ofBuilder].filter(Boolean).join(', ')}. ${description}`;
}

/** Template of metrics that have no words: those of serve, of builders, and the target. All their numbers are given. */
import type { DataPoint, MetricData } from '@opentelemetry/sdk-metrics';
import type { ExponentialTally } from '../../ground/exponential.js';
import type { TimeSlices } from '../../ground/time-slices.js';
import type { PageHistogram } from '../../instrumentation/producer/metric-data.js';
import { DataPointType } from '../../instrumentation/sdk-enums.js';
import { HistogramAt, HISTOGRAM_WORDS } from '../../shm-bridge/word-table.js';
import type { Form, HistogramSources } from './forms.js';
import type { Family } from './spelling.js';
import { givenNumber, type PagePart, type Source, TemplateWriter, What } from './template.js';

/** Points after which the time is looked at: it takes as long as some points. */
const POINTS_PER_LOOK = 16;

export type NamedData = readonly [family: Family, metric: Pick<MetricData, 'dataPointType' | 'dataPoints'>];

export async function dataPart<Labels>(
  form: Form<Labels>,
  data: readonly NamedData[],
  slices: TimeSlices,
): Promise<PagePart> {
  const out = new TemplateWriter();
  const given: number[] = [];
  const words = new ExponentialWords();
  const source = (value: number): Source => [What.GIVEN, given.push(givenNumber(value)) - 1, 1];
  for (const [family, { dataPointType, dataPoints }] of data) {
    for (const [i, { attributes, startTime, value }] of (dataPoints as DataPoint<unknown>[]).entries()) {
      const pause = i % POINTS_PER_LOOK === 0 ? slices.turn() : undefined;
      if (pause !== undefined) await pause;
      if (dataPointType === DataPointType.HISTOGRAM) {
        const sources = histogramSources(value as PageHistogram, source, words);
        form.histogram(out, family, form.labels(attributes), sources, startTime);
      } else if (family.type !== 'untyped') {
        form.number(out, family, form.labels(attributes), [source(value as number)], startTime);
      }
    }
    out.endFamily();
  }
  const buffer = words.buffer();
  return {
    families: data.map(([family]) => family),
    isKept: true,
    templates: [out.make(buffer.byteLength / 8, given.length)],
    words: buffer,
    places: Uint32Array.of(0, buffer.byteLength / 8, given.length),
    given: Float64Array.from(given),
  };
}

/** Counts become running sums here: those of builders may be fractions. */
function histogramSources(
  value: PageHistogram,
  given: (value: number) => Source,
  words: ExponentialWords,
): HistogramSources {
  const { boundaries, counts } = value.buckets;
  // OpenTelemetry's serialiser leaves out null, too.
  const source = (number: number | null | undefined): Source | undefined =>
    number == null ? undefined : given(number);
  const [count, sum] = [source(value.count), source(value.sum)];
  // Beyond an infinite bound there are no values.
  const lines = boundaries.includes(Infinity) ? Math.min(counts.length, boundaries.length) : counts.length;
  let cumulative = 0;
  const buckets = Array.from({ length: lines }, (_, i) => given((cumulative += counts[i]!)));
  const { exponential } = value;
  return {
    bounds: boundaries,
    buckets,
    count,
    sum,
    exponential: exponential && [What.EXPONENTIAL, words.add(exponential), 0],
  };
}

/** Exponential histograms as words, in the order of an agent's. */
class ExponentialWords {
  readonly #tallies: ExponentialTally[] = [];
  #length = 0;

  /** Returns the place of its first word. */
  add(tally: ExponentialTally): number {
    this.#tallies.push(tally);
    const place = this.#length;
    this.#length += HISTOGRAM_WORDS.length + tally.counts.length;
    return place;
  }

  buffer(): ArrayBuffer {
    const whole = new BigInt64Array(this.#length);
    const doubles = new Float64Array(whole.buffer);
    let at = 0;
    for (const { zeroCount, offset, counts } of this.#tallies) {
      whole[at + HistogramAt.zeros] = BigInt(zeroCount);
      whole[at + HistogramAt.first] = BigInt(offset);
      whole[at + HistogramAt.buckets] = BigInt(counts.length);
      whole[at + HistogramAt.distance] = BigInt(HISTOGRAM_WORDS.length);
      doubles.set(counts, at + HISTOGRAM_WORDS.length);
      at += HISTOGRAM_WORDS.length + counts.length;
    }
    return whole.buffer;
  }
}

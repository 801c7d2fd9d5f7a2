/** The exposition as text: the bytes of OpenTelemetry's PrometheusSerializer, of which only the numbers are made anew. */
import type { DataPoint, Histogram, MetricData } from '@opentelemetry/sdk-metrics';
import type { PageMetrics } from '../../instrumentation/producer/metric-producer.js';
import { DataPointType } from '../../instrumentation/sdk-enums.js';
import { FamilyText } from './family-text.js';
import { KeptFamilies } from './kept-families.js';
import { KeptLabels } from './kept-labels.js';
import { PageBytes } from './page-bytes.js';
import { roomFor, wholeBuffer } from './room.js';
import { HISTOGRAM_LINES, NUMBER_LINES } from './point-lines.js';
import { type Family, labelsOf, labelsText } from './spelling.js';
import { targetPoints, TARGET } from './target.js';
import { TimeSlices } from '../../time-slices.js';

/** As a page without metrics, with the line end that the format asks for. */
const NOTHING = '# no registered metrics\n';

/**
 * Makes the pages of one reader. It keeps the text of the last page: an agent or a metric is forgotten with the first page
 * that lacks it. Labels of the scope are left out: NIXL's series have NIXL's labels and no others.
 */
export class TextExposition {
  readonly #hasTargetInfo: boolean;
  readonly #labels = new KeptLabels((attributes) => labelsText(labelsOf(attributes)));
  readonly #families = new KeptFamilies((family, { dataPointType }) => this.#writerOf(family, dataPointType));
  /** Memory for the next page. */
  #room: Uint8Array | undefined;
  #lastLength = 0;

  constructor(hasTargetInfo = true) {
    this.#hasTargetInfo = hasTargetInfo;
  }

  /** Must not be called again before the returned promise is settled. */
  async page({ resource, scopeMetrics }: PageMetrics, slices = new TimeSlices()): Promise<Uint8Array> {
    const page = new PageBytes(roomFor(this.#lastLength, this.#room));
    this.#room = undefined;
    if (this.#hasTargetInfo) new FamilyText(TARGET, NUMBER_LINES, this.#labels).write(targetPoints(resource), page);
    const begin = page.length;
    for (const { metrics } of scopeMetrics) {
      for (const metric of metrics) {
        const pause = slices.turn();
        if (pause !== undefined) await pause;
        this.#families.of(metric)?.(metric.dataPoints, page);
      }
    }
    this.#families.endPage();
    if (page.length === begin) page.text(NOTHING);
    this.#lastLength = page.length;
    return page.finish();
  }

  /** Makes the next page in the memory of this one, which is no longer in use. */
  reuse(page: Uint8Array): void {
    this.#room = wholeBuffer(page);
  }

  /** Points of a type that the format does not have are left out. */
  #writerOf(
    family: Family,
    type: MetricData['dataPointType'],
  ): (points: MetricData['dataPoints'], page: PageBytes) => void {
    if (type === DataPointType.HISTOGRAM) {
      const text = new FamilyText(family, HISTOGRAM_LINES, this.#labels);
      return (points, page) => text.write(points as DataPoint<Histogram>[], page);
    }
    const text = new FamilyText(family, NUMBER_LINES, this.#labels);
    return (points, page) => text.write(family.type === 'untyped' ? [] : (points as DataPoint<number>[]), page);
  }
}

/** The exposition as protobuf messages: native histograms, and the time at which each count began. */
import type { DataPoint } from '@opentelemetry/sdk-metrics';
import type { PageMetrics } from '../../instrumentation/producer/metric-producer.js';
import { DataPointType } from '../../instrumentation/sdk-enums.js';
import {
  COUNTER,
  type FamilyType,
  GAUGE,
  HISTOGRAM,
  labelBytes,
  NUMBER_IN_VALUE,
  writeFamilyHead,
  writeMetric,
} from './client-model.js';
import { KeptFamilies } from './kept-families.js';
import { KeptLabels, LabelsInOrder } from './kept-labels.js';
import { KeptNumbers } from './kept-numbers.js';
import { ProtobufBytes } from './protobuf-bytes.js';
import { roomFor, wholeBuffer } from './room.js';
import type { Family } from './spelling.js';
import { TARGET, targetPoints } from './target.js';
import { TimeSlices } from '../../time-slices.js';

/** Points after which the time is looked at: it takes as long as some points. */
const POINTS_PER_LOOK = 16;

/** Makes the pages of one reader. It keeps names, the bytes of labels, and families of which only the numbers change. */
export class ProtobufExposition {
  readonly #hasTargetInfo: boolean;
  readonly #labels = new KeptLabels(labelBytes);
  readonly #families = new KeptFamilies((family) => this.#kept(family));
  /** One family: its length must be known before it is on the page. */
  readonly #message = new ProtobufBytes();
  /** Memory for the next page. */
  #room: Uint8Array | undefined;
  #lastLength = 0;

  constructor(hasTargetInfo = true) {
    this.#hasTargetInfo = hasTargetInfo;
  }

  /** Returns the families of the text, in its order, each after its length. */
  async page({ resource, scopeMetrics }: PageMetrics, slices = new TimeSlices()): Promise<Uint8Array> {
    const page = new ProtobufBytes(roomFor(this.#lastLength, this.#room));
    this.#room = undefined;
    const message = this.#message;
    const add = async <Value>(kept: KeptFamily, type: FamilyType<Value>, points: readonly DataPoint<Value>[]) => {
      message.clear();
      writeFamilyHead(kept.family, type, message);
      const valuesAt = await writeMetrics(type, kept.labels, points, message, slices);
      page.delimited(message.bytes());
      return valuesAt;
    };
    const addNumbers = async (kept: KeptFamily, type: FamilyType<number>, points: readonly DataPoint<number>[]) => {
      const pause = slices.turn();
      if (pause !== undefined) await pause;
      const filled = kept.numbers.filled(points);
      if (filled !== undefined) return page.delimited(filled);
      const valuesAt = await add(kept, type, points);
      if (points.every(({ attributes }) => this.#labels.keeps(attributes))) {
        kept.numbers.keep(message.bytes(), points, valuesAt);
      } else {
        kept.numbers.forget();
      }
    };
    if (this.#hasTargetInfo) await add(this.#kept(TARGET), GAUGE, targetPoints(resource));
    for (const { metrics } of scopeMetrics) {
      for (const metric of metrics) {
        const kept = this.#families.of(metric);
        if (kept === undefined) continue;
        if (metric.dataPointType === DataPointType.HISTOGRAM) await add(kept, HISTOGRAM, metric.dataPoints);
        else if (metric.dataPointType === DataPointType.GAUGE) await addNumbers(kept, GAUGE, metric.dataPoints);
        else if (metric.dataPointType === DataPointType.SUM) {
          await addNumbers(kept, metric.isMonotonic ? COUNTER : GAUGE, metric.dataPoints);
        }
      }
    }
    this.#families.endPage();
    this.#lastLength = page.length;
    return page.bytes();
  }

  /** Makes the next page in the memory of this one, which is no longer in use. */
  reuse(page: Uint8Array): void {
    this.#room = wholeBuffer(page);
  }

  #kept(family: Family): KeptFamily {
    return { family, labels: new LabelsInOrder(this.#labels), numbers: new KeptNumbers() };
  }
}

interface KeptFamily {
  readonly family: Family;
  readonly labels: LabelsInOrder<Uint8Array>;
  readonly numbers: KeptNumbers;
}

/** Returns the place of the value of each point, if they are numbers. */
async function writeMetrics<Value>(
  type: FamilyType<Value>,
  labels: LabelsInOrder<Uint8Array>,
  points: readonly DataPoint<Value>[],
  message: ProtobufBytes,
  slices: TimeSlices,
): Promise<number[]> {
  const valuesAt: number[] = [];
  for (let i = 0; i < points.length; i++) {
    const pause = i % POINTS_PER_LOOK === 0 ? slices.turn() : undefined;
    if (pause !== undefined) await pause;
    const point = points[i]!;
    valuesAt.push(writeMetric(type, labels.of(i, point.attributes), point, message) + NUMBER_IN_VALUE);
  }
  labels.cut(points.length);
  return valuesAt;
}

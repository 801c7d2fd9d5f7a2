/** The exposition as protobuf messages: native histograms, and the time at which each count began. */
import type { DataPoint, MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { DataPointType } from '../../instrumentation/sdk-enums.js';
import {
  COUNTER,
  type FamilyType,
  GAUGE,
  HISTOGRAM,
  labelBytes,
  writeFamilyHead,
  writeMetric,
} from './client-model.js';
import { KeptFamilies } from './kept-families.js';
import { KeptLabels, LabelsInOrder } from './kept-labels.js';
import { ProtobufBytes } from './protobuf-bytes.js';
import type { Family } from './spelling.js';
import { TARGET, targetPoints } from './target.js';
import { TimeSlices } from './time-slices.js';

/** Points after which the time is looked at: it takes as long as some points. */
const POINTS_PER_LOOK = 16;

/** Makes the pages of one reader. It keeps names, and the bytes of labels. */
export class ProtobufExposition {
  readonly #hasTargetInfo: boolean;
  readonly #labels = new KeptLabels(labelBytes);
  readonly #families = new KeptFamilies((family) => this.#kept(family));
  #lastLength = 0;
  #longestMessage = 0;

  constructor(hasTargetInfo = true) {
    this.#hasTargetInfo = hasTargetInfo;
  }

  /** Returns the families of the text, in its order, each after its length. */
  async page({ resource, scopeMetrics }: ResourceMetrics, slices = new TimeSlices()): Promise<Uint8Array> {
    const page = new ProtobufBytes(this.#lastLength + (this.#lastLength >> 4)); // numbers become longer
    const message = new ProtobufBytes(this.#longestMessage);
    const add: Add = async ({ family, labels }, type, points) => {
      message.clear();
      writeFamilyHead(family, type, message);
      await writeMetrics(type, labels, points, message, slices);
      page.delimited(message.bytes());
      this.#longestMessage = Math.max(this.#longestMessage, message.length);
    };
    if (this.#hasTargetInfo) await add(this.#kept(TARGET), GAUGE, targetPoints(resource));
    for (const metric of scopeMetrics.flatMap(({ metrics }) => metrics)) {
      const kept = this.#families.of(metric);
      if (kept !== undefined) await addMetric(kept, metric, add);
    }
    this.#families.endPage();
    this.#lastLength = page.length;
    return page.bytes();
  }

  #kept(family: Family): KeptFamily {
    return { family, labels: new LabelsInOrder(this.#labels) };
  }
}

interface KeptFamily {
  readonly family: Family;
  readonly labels: LabelsInOrder<Uint8Array>;
}

async function writeMetrics<Value>(
  type: FamilyType<Value>,
  labels: LabelsInOrder<Uint8Array>,
  points: readonly DataPoint<Value>[],
  message: ProtobufBytes,
  slices: TimeSlices,
): Promise<void> {
  for (let i = 0; i < points.length; i++) {
    const pause = i % POINTS_PER_LOOK === 0 ? slices.turn() : undefined;
    if (pause !== undefined) await pause;
    const point = points[i]!;
    writeMetric(type, labels.of(i, point.attributes), point, message);
  }
  labels.cut(points.length);
}

type Add = <Value>(kept: KeptFamily, type: FamilyType<Value>, points: readonly DataPoint<Value>[]) => Promise<void>;

async function addMetric(kept: KeptFamily, metric: MetricData, add: Add): Promise<void> {
  switch (metric.dataPointType) {
    case DataPointType.SUM:
      return add(kept, metric.isMonotonic ? COUNTER : GAUGE, metric.dataPoints);
    case DataPointType.GAUGE:
      return add(kept, GAUGE, metric.dataPoints);
    case DataPointType.HISTOGRAM:
      return add(kept, HISTOGRAM, metric.dataPoints);
  }
}

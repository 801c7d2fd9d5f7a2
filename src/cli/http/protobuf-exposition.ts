/**
 * The exposition as protobuf messages: native histograms, and the time at which each count began. pbf writes the wire format
 * in 124 kB on disk and without generated code; protobufjs, which the tests decode with, has 3.2 MB.
 */
import type { DataPoint, MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { PbfWriter } from 'pbf';
import { DataPointType } from '../../instrumentation/sdk-enums.js';
import {
  COUNTER,
  type FamilyType,
  GAUGE,
  HISTOGRAM,
  labelBytes,
  metricWriter,
  writeFamilyHead,
} from './client-model.js';
import { KeptFamilies } from './kept-families.js';
import { KeptLabels } from './kept-labels.js';
import type { Family } from './spelling.js';
import { TARGET, targetPoints } from './target.js';
import { TimeSlices } from './time-slices.js';

/** Points after which the time is looked at: it takes as long as some points. */
const POINTS_PER_LOOK = 16;

/** Makes the pages of one reader. It keeps names and the bytes of labels. */
export class ProtobufExposition {
  readonly #hasTargetInfo: boolean;
  readonly #labels = new KeptLabels(labelBytes);
  readonly #families = new KeptFamilies((family) => family);
  #lastLength = 16;
  #longestFamily = 16;

  constructor(hasTargetInfo = true) {
    this.#hasTargetInfo = hasTargetInfo;
  }

  /** Returns the families of the text, in its order, each after its length. */
  async page({ resource, scopeMetrics }: ResourceMetrics, slices = new TimeSlices()): Promise<Uint8Array> {
    const page = new PbfWriter(new Uint8Array(this.#lastLength));
    const body = new PbfWriter(new Uint8Array(this.#longestFamily));
    const add = <Value>(family: Family, type: FamilyType<Value>, points: readonly DataPoint<Value>[]) =>
      this.#add(family, type, points, { page, body, slices });
    if (this.#hasTargetInfo) await add(TARGET, GAUGE, targetPoints(resource));
    for (const metric of scopeMetrics.flatMap(({ metrics }) => metrics)) {
      const family = this.#families.of(metric);
      if (family !== undefined) await addMetric(family, metric, add);
    }
    this.#families.endPage();
    const bytes = page.finish();
    this.#lastLength = bytes.length;
    return bytes;
  }

  async #add<Value>(
    family: Family,
    type: FamilyType<Value>,
    points: readonly DataPoint<Value>[],
    { page, body, slices }: { page: PbfWriter; body: PbfWriter; slices: TimeSlices },
  ): Promise<void> {
    body.pos = 0;
    writeFamilyHead(family, type, body);
    const write = metricWriter(type);
    for (let i = 0; i < points.length; i++) {
      const pause = i % POINTS_PER_LOOK === 0 ? slices.turn() : undefined;
      if (pause !== undefined) await pause;
      const point = points[i]!;
      write(this.#labels.of(point.attributes), point, body);
    }
    this.#longestFamily = Math.max(this.#longestFamily, body.pos);
    page.writeBytes(body.buf.subarray(0, body.pos));
  }
}

type Add = <Value>(family: Family, type: FamilyType<Value>, points: readonly DataPoint<Value>[]) => Promise<void>;

async function addMetric(family: Family, metric: MetricData, add: Add): Promise<void> {
  switch (metric.dataPointType) {
    case DataPointType.SUM:
      return add(family, metric.isMonotonic ? COUNTER : GAUGE, metric.dataPoints);
    case DataPointType.GAUGE:
      return add(family, GAUGE, metric.dataPoints);
    case DataPointType.HISTOGRAM:
      return add(family, HISTOGRAM, metric.dataPoints);
  }
}

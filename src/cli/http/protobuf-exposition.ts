/**
 * The exposition as protobuf messages: native histograms, and the time at which each count began. pbf writes the wire format
 * in 124 kB on disk and without generated code; protobufjs, which the tests decode with, has 3.2 MB.
 */
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { type DataPoint, DataPointType, type MetricData, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { PbfWriter } from 'pbf';
import { COUNTER, type FamilyType, GAUGE, HISTOGRAM, metricWriter, writeFamilyHead } from './client-model.js';
import { TimeSlices } from './time-slices.js';

/** Returns the families of the text, in its order, each after its length. */
export async function protobufExposition(
  { resource, scopeMetrics }: ResourceMetrics,
  hasTargetInfo = true,
): Promise<Uint8Array> {
  const exposition = new Exposition();
  const target = { attributes: resource.attributes, value: 1, ...NO_TIMES };
  if (hasTargetInfo) await exposition.add('target_info', 'Target metadata', GAUGE, [target]);
  for (const metric of scopeMetrics.flatMap(({ metrics }) => metrics)) {
    const head = headOf(metric);
    if (head === undefined) continue;
    const [name, help] = head;
    switch (metric.dataPointType) {
      case DataPointType.SUM:
        await exposition.add(name, help, metric.isMonotonic ? COUNTER : GAUGE, metric.dataPoints);
        break;
      case DataPointType.GAUGE:
        await exposition.add(name, help, GAUGE, metric.dataPoints);
        break;
      case DataPointType.HISTOGRAM:
        await exposition.add(name, help, HISTOGRAM, metric.dataPoints);
    }
  }
  return exposition.finish();
}

/** A gauge has no times. */
const NO_TIMES: Pick<DataPoint<number>, 'startTime' | 'endTime'> = { startTime: [0, 0], endTime: [0, 0] };

class Exposition {
  readonly #families = new PbfWriter();
  readonly #slices = new TimeSlices();

  async add<Value>(name: string, help: string, type: FamilyType<Value>, points: DataPoint<Value>[]): Promise<void> {
    const family = new PbfWriter();
    writeFamilyHead(name, help, type, family);
    const write = metricWriter(type);
    for (const point of points) {
      if (this.#slices.isOver) await this.#slices.next();
      write(point, family);
    }
    this.#families.writeBytes(family.finish());
  }

  finish(): Uint8Array {
    return this.#families.finish();
  }
}

const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);

/** Returns name and help as OpenTelemetry's serialiser writes them in text; undefined for a metric that it leaves out. */
function headOf(metric: MetricData): [name: string, help: string] | undefined {
  const resource = { attributes: {} } as ResourceMetrics['resource'];
  const withoutPoints = { ...metric, dataPoints: [] };
  const text = serializer.serialize({ resource, scopeMetrics: [{ scope: { name: '' }, metrics: [withoutPoints] }] });
  const found = /^# HELP (\S+) ([^\n]*)/.exec(text);
  return found === null ? undefined : [found[1]!, unescaped(found[2]!)];
}

function unescaped(help: string): string {
  return help.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : String(escaped)));
}

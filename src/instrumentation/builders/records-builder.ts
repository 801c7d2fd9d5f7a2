/**
 * Builder `records`: counts records about jobs, such as `{ action: 'train', network: 'ResNet-50', version: '1.2', success: true,
 * user_error: false, gpu: ['NVIDIA A100'], time_lapsed: 12.5 }`. Any of the fields may be missing; time is in seconds.
 */
import { type Counter, type Meter, ValueType } from '@opentelemetry/api';
import { countsOf } from '../../ground/maps.js';
import { type Attributes, gpuSlug, slug } from '../../mapping/index.js';
import * as semconv from '../../mapping/semconv.js';
import type { EventRecord, MetricBuilder } from '../../settings/metric-builder.js';

function countersOf(meter: Meter) {
  const counter = (name: string, unit: string, description: string): Counter =>
    meter.createCounter(name, { unit, description, valueType: ValueType.DOUBLE });
  return {
    records: counter(
      semconv.METRIC_NIXL_RECORDS,
      '{record}',
      'Records by action and outcome: pass, fail or user_error.',
    ),
    versions: counter(semconv.METRIC_NIXL_RECORDS_VERSIONS, '{record}', 'Records by version, action and outcome.'),
    networks: counter(semconv.METRIC_NIXL_RECORDS_NETWORKS, '{record}', 'Records by network, action and outcome.'),
    time: counter(semconv.METRIC_NIXL_RECORDS_TIME, 's', 'Duration of the recorded jobs by action.'),
    gpus: counter(semconv.METRIC_NIXL_RECORDS_GPUS, '{gpu}', 'GPUs named in records, by model.'),
    gpuTime: counter(semconv.METRIC_NIXL_RECORDS_GPU_TIME, 's', 'GPU-seconds of records, by model.'),
  };
}

export class RecordsBuilder implements MetricBuilder {
  readonly name = 'records';
  #meter: Meter | undefined;
  /** Made at the first record: most services report none. */
  #counters: ReturnType<typeof countersOf> | undefined;

  create(meter: Meter): void {
    this.#meter = meter;
    this.#counters = undefined;
  }

  process(record: EventRecord, attributes: Attributes): void {
    const { records, versions, networks, time, gpus, gpuTime } = (this.#counters ??= countersOf(this.#meter!));
    const action = wordOf(record['action']) ?? 'none';
    const about = { ...attributes, action, outcome: outcomeOf(record) };
    records.add(1, about);
    const version = textOf(record['version']);
    if (version !== undefined) versions.add(1, { ...about, version });
    const network = wordOf(record['network']);
    if (network !== undefined) networks.add(1, { ...about, network });
    const seconds = Number(record['time_lapsed']);
    const took = Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
    if (took !== undefined) time.add(took, { ...attributes, action });
    for (const [gpu, count] of countsOf((gpusIn(record) ?? []).map(gpuSlug))) {
      gpus.add(count, { ...attributes, gpu });
      if (took !== undefined) gpuTime.add(took * count, { ...attributes, gpu });
    }
  }
}

/** Returns the names of GPU models; undefined if the field is no array. */
export function gpusIn(record: EventRecord): string[] | undefined {
  const { gpu } = record;
  return Array.isArray(gpu) ? gpu.filter((name): name is string => typeof name === 'string') : undefined;
}

function outcomeOf({ success, user_error: userError }: EventRecord): 'pass' | 'fail' | 'user_error' {
  if (success === true) return 'pass';
  return userError === true ? 'user_error' : 'fail';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function wordOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text === undefined || text === '' ? undefined : slug(text);
}

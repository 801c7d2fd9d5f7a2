/** Aggregation that the exporters otlp and console select. */
import { AggregationType, InstrumentType } from '../../instrumentation/sdk-enums.js';
import type { HistogramKind } from '../../settings/histograms.js';
import type { AggregationSelector } from '../../settings/options.js';

export function aggregationSelector(histograms: HistogramKind): AggregationSelector {
  return (instrumentType) =>
    histograms === 'exponential' && instrumentType === InstrumentType.HISTOGRAM
      ? { type: AggregationType.EXPONENTIAL_HISTOGRAM }
      : { type: AggregationType.DEFAULT };
}

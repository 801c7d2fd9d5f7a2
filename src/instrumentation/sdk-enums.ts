/**
 * Enums of `@opentelemetry/sdk-metrics` as constants, so that the package loads no SDK for their sake: the SDK takes longer to
 * load than this package. The compiler compares names and values with the SDK's types, a test with the installed SDK.
 */
import type * as Sdk from '@opentelemetry/sdk-metrics';

type Members<Enum> = { readonly [Name in keyof Enum]: Enum[Name] };
/** A text is no member of an enum of texts, even if it is equal to one. */
type Texts<Enum extends Readonly<Record<string, string>>> = { readonly [Name in keyof Enum]: `${Enum[Name]}` };

export type AggregationTemporality = Sdk.AggregationTemporality;
export const AggregationTemporality: Members<typeof Sdk.AggregationTemporality> = { DELTA: 0, CUMULATIVE: 1 };

export type AggregationType = Sdk.AggregationType;
export const AggregationType: Members<typeof Sdk.AggregationType> = {
  DEFAULT: 0,
  DROP: 1,
  SUM: 2,
  LAST_VALUE: 3,
  EXPLICIT_BUCKET_HISTOGRAM: 4,
  EXPONENTIAL_HISTOGRAM: 5,
};

export const DataPointType: Members<typeof Sdk.DataPointType> = {
  HISTOGRAM: 0,
  EXPONENTIAL_HISTOGRAM: 1,
  GAUGE: 2,
  SUM: 3,
};

const INSTRUMENT_TYPES: Texts<typeof Sdk.InstrumentType> = {
  COUNTER: 'COUNTER',
  GAUGE: 'GAUGE',
  HISTOGRAM: 'HISTOGRAM',
  UP_DOWN_COUNTER: 'UP_DOWN_COUNTER',
  OBSERVABLE_COUNTER: 'OBSERVABLE_COUNTER',
  OBSERVABLE_GAUGE: 'OBSERVABLE_GAUGE',
  OBSERVABLE_UP_DOWN_COUNTER: 'OBSERVABLE_UP_DOWN_COUNTER',
};
export type InstrumentType = Sdk.InstrumentType;
export const InstrumentType = INSTRUMENT_TYPES as unknown as Members<typeof Sdk.InstrumentType>;

interface Translated {
  readonly name: string;
  readonly kind: string;
  /** UCUM. */
  readonly unit: string;
}

/** Name of a metric in a Prometheus that got it by OTLP. */
export function translatedName(metric: Translated): string;
/** Names of its series there: four for a histogram, with its own. */
export function translatedSeries(metric: Translated): string[];

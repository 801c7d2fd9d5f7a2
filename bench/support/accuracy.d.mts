/** Microseconds; figures that are not known are undefined. */
export interface Row {
  distribution: string;
  figure: 'p50' | 'p90' | 'p99' | 'max';
  exact: number;
  seen: Record<string, number | undefined>;
}
export function accuracyIn(
  directory: string,
  options: { transfers: number; intervalMs: number; prometheus?: string },
): Promise<Row[]>;
export function violations(rows: readonly Row[]): string[];

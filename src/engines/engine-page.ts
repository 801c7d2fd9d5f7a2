/** Reads the page of metrics of an engine. Pure. */
import { exposedSamples } from '../ground/exposition-text.js';
import { type EnginePage, ENGINES } from './engine-rows.js';

/** Sums of transfers, on either side. */
export interface MovedSums {
  readonly transfers: number;
  readonly bytes: number;
  readonly transferUs: number;
  readonly postUs: number;
}

/** Without the sums of series that the page lacks. */
export type PageMoved = { readonly [Sum in keyof MovedSums]?: number | undefined };

export interface EnginePageSums {
  /** Name of the engine in prose. */
  readonly engine: string;
  readonly page: EnginePage;
  /** Undefined if the page has no such series. */
  readonly moved: PageMoved | undefined;
  /** Counts of what no ring shows, above 0, with what they count. */
  readonly beyondRings: readonly (readonly [what: string, count: number])[];
  /** Values of the label of its model. */
  readonly models: readonly string[];
  /** Start of the process that has the page. */
  readonly startedMs: number | undefined;
}

const STARTED = 'process_start_time_seconds';
const PAGES = ENGINES.flatMap(({ engine, name = engine, page }) => (page === undefined ? [] : [{ name, page }]));

/** Returns undefined if the page is of no engine in the table. All its engines and ranks are added up. */
export function enginePageSums(text: string): EnginePageSums | undefined {
  const sums = new Map<string, number>();
  const models = new Set<string>();
  let startedMs: number | undefined;
  const isOfEngine = (name: string): boolean => PAGES.some(({ page }) => name.startsWith(page.prefix));
  for (const { name, labels, value } of exposedSamples(text, (one) => one === STARTED || isOfEngine(one))) {
    if (!Number.isFinite(value)) continue;
    if (name === STARTED) startedMs = Math.max(startedMs ?? 0, value * 1000);
    else sums.set(name, (sums.get(name) ?? 0) + value);
    const model = labels['model_name'];
    if (model !== undefined && isOfEngine(name)) models.add(model);
  }
  const present = PAGES.filter(({ page }) => [...sums.keys()].some((name) => name.startsWith(page.prefix)));
  // A process may have series of two engines: of a cache beside those of vLLM.
  const found = present.find(({ page }) => page.series && sums.has(page.series.transfers)) ?? present[0];
  if (found === undefined) return undefined;
  const { name: engine, page } = found;
  const { series } = page;
  const microseconds = (name: string): number | undefined => {
    const seconds = sums.get(name);
    return seconds && Math.round(seconds * 1e6);
  };
  return {
    engine,
    page,
    moved:
      series === undefined || !sums.has(series.transfers)
        ? undefined
        : {
            transfers: sums.get(series.transfers),
            bytes: sums.get(series.bytes),
            transferUs: microseconds(series.seconds),
            postUs: microseconds(series.postSeconds),
          },
    beyondRings: Object.entries(series?.beyondRings ?? {}).flatMap(([name, what]) => {
      const count = sums.get(name) ?? 0;
      return count > 0 ? [[what, count] as const] : [];
    }),
    models: [...models],
    startedMs,
  };
}

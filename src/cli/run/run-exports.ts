/** Exporters of a run: they push while it runs, and once at its end. */
import {
  SERVE_ROWS,
  ALL_SERVE_ROWS,
  givenFlags,
  SERVE_SECTION,
  serveSettings,
  type ServeSettings,
} from '../../settings/serve-rows.js';
import { LONGEST_MS } from '../../ground/source-limits.js';
import { OPTION_ROWS } from '../../settings/option-rows.js';
import { checkOtlpEnvironment, clarifyOtlpEnvironment } from '../../settings/otlp-environment.js';
import { namedFile, resolve } from '../../settings/resolve.js';
import { settingsFrom, withSource } from '../../settings/settings.js';
import type { Environment, OptionRow, OptionRows } from '../../settings/row.js';
import type { MetricsPipeline } from '../../serve/pipeline.js';
import { Failure } from '../../process/failure.js';

const { exporter, exporterDir, consoleFile, otlpEndpoint, otlpProtocol, temporality, histograms } = SERVE_ROWS;
const { exportInterval, exportTimeout, shutdownTimeout } = SERVE_ROWS;
const { configFile, naming, nixlRelease, nixlLabels, series, attributes } = OPTION_ROWS;

/** Flags that `run` has as `serve` has them. Its exporters are those of the flag alone: variables are meant for the command. */
export const RUN_ROWS: OptionRows = {
  exporter: withoutVariables({ ...exporter, default: ['none'] }),
  exporterDir: withoutVariables(exporterDir),
  exportInterval,
  exportTimeout,
  shutdownTimeout,
  consoleFile: withoutVariables(consoleFile),
  otlpEndpoint,
  otlpProtocol,
  temporality,
  histograms,
  naming,
  nixlRelease,
  nixlLabels,
  series,
  attributes,
  configFile,
};

function withoutVariables(row: OptionRow): OptionRow {
  return { ...row, variables: [] };
}

export interface RingsOfRun {
  readonly directory: string;
  readonly drainIntervalMs: number;
}

export class RunExports {
  readonly #pipeline: MetricsPipeline;

  private constructor(pipeline: MetricsPipeline) {
    this.#pipeline = pipeline;
  }

  /** @throws NixlTelemetryError CONFIG_INVALID, Failure */
  static async open(flags: Partial<ServeSettings>, names: readonly string[], rings: RingsOfRun): Promise<RunExports> {
    const layers = {
      given: givenOf(flags, names, rings),
      givenBy: 'flag',
      environment: withoutNixl(process.env),
    } as const;
    const file = namedFile(layers, SERVE_SECTION);
    const resolved = resolve(ALL_SERVE_ROWS, { ...layers, file });
    const settings = serveSettings(resolved);
    clarifyOtlpEnvironment(process.env);
    if (names.includes('otlp')) checkOtlpEnvironment(process.env, settings.otlpProtocol);
    const { openPipeline } = await import('../../serve/pipeline.js');
    const { followExports } = await import('../../serve/outputs/owners.js');
    followExports();
    return new RunExports(
      await openPipeline(withSource(settingsFrom(resolved, file)), settings, () => Promise.resolve()),
    );
  }

  /** Returns the metrics as a text page. */
  async text(): Promise<string> {
    const { exposition } = this.#pipeline;
    return new Promise((resolve, reject) => {
      exposition!(
        { headers: {}, url: '/metrics' } as never,
        (status, content, _type, _headers, onSent) => {
          const text = typeof content === 'string' ? content : Buffer.from(content as Uint8Array).toString();
          onSent?.();
          if (status === 200) resolve(text);
          else reject(new Failure(text));
        },
        () => Promise.resolve(),
      );
    });
  }

  /** Pushes the last values. */
  close(): Promise<void> {
    return this.#pipeline.close();
  }
}

/** Agents that end keep their series until the end of the run. */
function givenOf(flags: Partial<ServeSettings>, names: readonly string[], rings: RingsOfRun): Record<string, unknown> {
  return {
    ...givenFlags(flags),
    exporter: names,
    directories: [rings.directory],
    drainIntervalMs: rings.drainIntervalMs,
    deadTtlMs: LONGEST_MS,
    state: 'on',
    allocatePages: 'on',
  };
}

/** NIXL's variables are meant for the agents. */
function withoutNixl(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('NIXL_TELEMETRY_')));
}

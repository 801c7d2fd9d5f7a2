/**
 * Begins and ends of findings as OTLP log records. OpenTelemetry's exporter of logs sends them, a package that users install beside this one.
 */
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../ground/package.js';
import { plural } from '../../ground/figures/figure.js';
import { ATTR_NIXL_FINDING_KIND, ATTR_NIXL_FINDING_LEVEL } from '../../mapping/semconv.js';
import { note } from '../../process/output.js';
import { collectorUrl, logsUrl, shareMetricsVariables } from '../../settings/otlp-environment.js';
import type { ServeSettings } from '../../settings/serve-rows.js';
import type { IncidentChanges } from '../../view/incidents/incident-log.js';
import { isMoment } from '../../view/incidents/incident-words.js';
import type { Incident } from '../../view/incidents/incident.js';
import { exportProblem } from './guarded-exporter.js';
import { optionalPackage } from './optional-package.js';
import { proxiedAgent } from './otlp-proxy.js';
import type { ExportFailure, Output } from './output.js';
import type { ServeResource } from './resource.js';

const PACKAGES: Readonly<Record<ServeSettings['otlpProtocol'], string>> = {
  'http/protobuf': '@opentelemetry/exporter-logs-otlp-proto',
  'http/json': '@opentelemetry/exporter-logs-otlp-http',
  grpc: '@opentelemetry/exporter-logs-otlp-grpc',
};

const EVENTS = {
  begun: 'nixl.finding.begin',
  raised: 'nixl.finding.raise',
  ended: 'nixl.finding.end',
} as const satisfies Record<keyof IncidentChanges, string>;
/** SeverityNumber of OpenTelemetry. */
const SEVERITIES = { INFO: 9, WARN: 13 } as const;
const SUCCESS = 0;
/** While a receiver does not answer, so many wait. */
const MOST_WAITING = 1000;

/** The part of an exporter that serve calls. All three packages have it. */
interface LogExporter {
  export(records: readonly object[], done: (result: { code: number; error?: Error }) => void): void;
  shutdown(): Promise<void>;
}

interface LogPackage {
  readonly OTLPLogExporter: new (options: object) => LogExporter;
}

/** @throws Failure if the package of the protocol is not installed, or the address of the receiver is not known */
export async function openFindingLog(settings: ServeSettings, resource: ServeResource): Promise<FindingLog> {
  const { otlpEndpoint, otlpProtocol } = settings;
  const name = PACKAGES[otlpProtocol];
  const load = (): Promise<LogPackage> => import(name) as Promise<LogPackage>;
  const { OTLPLogExporter } = await optionalPackage(name, '--otlp-findings', load);
  shareMetricsVariables(process.env);
  const isGrpc = otlpProtocol === 'grpc';
  const url = isGrpc ? otlpEndpoint : logsUrl(otlpEndpoint, process.env);
  const target = collectorUrl(url ?? otlpEndpoint, otlpProtocol, process.env);
  const agent = isGrpc ? undefined : proxiedAgent(new URL(target));
  const exporter = new OTLPLogExporter({
    ...(url === undefined ? {} : { url }),
    ...(agent === undefined ? {} : { httpAgentOptions: agent }),
  });
  return new FindingLog(exporter, resource, target);
}

export class FindingLog implements Output {
  readonly name = 'otlp findings';
  readonly #exporter: LogExporter;
  readonly #resource: ServeResource;
  readonly #target: string;
  #waiting: object[] = [];
  #sending: Promise<void> | undefined;
  #failing: ExportFailure | undefined;
  #lost = 0;

  constructor(exporter: LogExporter, resource: ServeResource, target: string) {
    this.#exporter = exporter;
    this.#resource = resource;
    this.#target = target;
  }

  readonly failing = (): ExportFailure | undefined => this.#failing;

  add(changes: IncidentChanges, takenMs: number): void {
    for (const [change, event] of Object.entries(EVENTS) as [keyof IncidentChanges, string][]) {
      for (const incident of changes[change]) {
        // It has a time and no end.
        if (change === 'ended' && isMoment(incident)) continue;
        this.#waiting.push(recordOf(event, incident, takenMs));
      }
    }
    this.#lost += this.#waiting.splice(0, this.#waiting.length - MOST_WAITING).length;
    this.#send();
  }

  /** Sends what waits. */
  async close(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
    await this.#exporter.shutdown();
  }

  #send(): void {
    if (this.#sending !== undefined || this.#waiting.length === 0) return;
    const resource = this.#resource.current();
    const records = this.#waiting.splice(0).map((record) => ({ ...record, resource }));
    this.#sending = this.#exported(records).then((error) => {
      this.#sending = undefined;
      this.#judge(error, records.length);
      this.#send();
    });
  }

  /** Returns the error of the export, after the exporter's own retries. */
  #exported(records: readonly object[]): Promise<unknown> {
    return new Promise((resolve) => {
      try {
        this.#exporter.export(records, ({ code, error }) =>
          resolve(code === SUCCESS ? undefined : (error ?? 'no reason given')),
        );
      } catch (error) {
        resolve(error);
      }
    });
  }

  #judge(error: unknown, count: number): void {
    if (error === undefined) {
      if (this.#failing !== undefined) note(`${this.name}: works again; ${plural(this.#lost, 'record')} lost`);
      this.#failing = undefined;
      this.#lost = 0;
      return;
    }
    this.#lost += count;
    const reason = `${this.#target}: ${exportProblem(error).text}`;
    if (this.#failing === undefined) note(`${this.name}: the export failed: ${reason}`, 'warning');
    this.#failing = { failingSinceMs: this.#failing?.failingSinceMs ?? Date.now(), reason };
  }
}

/** Returns a ReadableLogRecord of OpenTelemetry's SDK, without its resource. */
function recordOf(event: string, incident: Incident, takenMs: number): object {
  const { kind, level, word, sentence, agents, agentCount, beginMs, saidMs, endMs, peak, cause } = incident;
  const severity = level === 'alarm' && event !== EVENTS.ended ? 'WARN' : 'INFO';
  const timesMs: Readonly<Record<string, number | undefined>> = { [EVENTS.begun]: saidMs, [EVENTS.ended]: endMs };
  return {
    eventName: event,
    hrTime: hrTimeOf(timesMs[event] ?? takenMs),
    hrTimeObserved: hrTimeOf(takenMs),
    severityText: severity,
    severityNumber: SEVERITIES[severity],
    body: `${word}: ${sentence}`,
    attributes: {
      [ATTR_NIXL_FINDING_KIND]: kind,
      [ATTR_NIXL_FINDING_LEVEL]: level,
      'nixl.finding.agents': agents,
      'nixl.finding.agent_count': agentCount,
      'nixl.finding.since': new Date(beginMs).toISOString(),
      ...(cause === undefined ? {} : { 'nixl.finding.cause': cause }),
      ...(peak === undefined ? {} : { 'nixl.finding.peak': peak.text }),
    },
    droppedAttributesCount: 0,
    instrumentationScope: { name: PACKAGE_NAME, version: PACKAGE_VERSION },
  };
}

function hrTimeOf(ms: number): [seconds: number, nanoseconds: number] {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}

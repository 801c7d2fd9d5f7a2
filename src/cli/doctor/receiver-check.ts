/** Check of the OTLP receiver: its answer to a push without metrics, sent as serve sends its pushes. */
import { intervalText } from '../../ground/figures/clock.js';
import { setTimeout as pause } from 'node:timers/promises';
import { serviceResource } from '../../serve/outputs/resource.js';
import type { ServeSettings } from '../../settings/serve-rows.js';
import { exportProblem } from '../../serve/outputs/guarded-exporter.js';
import { checkOtlpEnvironment, clarifyOtlpEnvironment, collectorUrl } from '../../settings/otlp-environment.js';
import { otlpExporter } from '../../serve/outputs/otlp.js';
import { followExports, Owner } from '../../serve/outputs/owners.js';
import type { DoctorFinding } from '../../view/answers/doctor-finding.js';
import { finding, ok } from './finding.js';

const TIMEOUT_MS = 5_000;

/** @throws NixlTelemetryError CONFIG_INVALID for a wrong variable; Failure without the package for gRPC. */
export async function receiverChecks(settings: ServeSettings, timeoutMs = TIMEOUT_MS): Promise<DoctorFinding[]> {
  const { otlpEndpoint, otlpProtocol } = settings;
  clarifyOtlpEnvironment(process.env);
  checkOtlpEnvironment(process.env, otlpProtocol);
  const subject = `OTLP receiver ${collectorUrl(otlpEndpoint, otlpProtocol, process.env)}`;
  const problem = await emptyPush(settings, timeoutMs);
  if (problem === undefined) return [ok('receiver', subject, `takes a push without metrics, by ${otlpProtocol}`)];
  const values = { URL: collectorUrl(otlpEndpoint, otlpProtocol, process.env) };
  return [finding('receiver-fails', { subject, what: `a push without metrics fails: ${problem}`, values })];
}

/** Returns the reason if the push fails. OTEL_EXPORTER_OTLP_TIMEOUT may be longer than doctor waits. */
async function emptyPush(settings: ServeSettings, timeoutMs: number): Promise<string | undefined> {
  followExports();
  const owner = new Owner('doctor', { isBuiltIn: true });
  const exporter = await otlpExporter(settings, timeoutMs);
  const resourceMetrics = { resource: serviceResource(), scopeMetrics: [] };
  const pushed = new Promise<string | undefined>((resolve) => {
    owner.run(() =>
      exporter.export(resourceMetrics, ({ error }) =>
        resolve(error === undefined ? undefined : exportProblem(error, owner.httpStatus).text),
      ),
    );
  });
  const ended = pushed.then(async (problem) => {
    await exporter.shutdown();
    return problem;
  });
  return Promise.race([ended, pause(timeoutMs, `no answer in ${intervalText(timeoutMs)}`)]);
}

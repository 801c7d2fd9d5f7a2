/** Check of the OTLP receiver: its answer to a push without metrics, sent as serve sends its pushes. */
import { setTimeout as pause } from 'node:timers/promises';
import { serviceResource } from '../serve/resource.js';
import type { ServeSettings } from '../../settings/serve-rows.js';
import { exportProblem } from '../serve/guarded-exporter.js';
import { checkOtlpEnvironment, collectorUrl } from '../serve/otlp-environment.js';
import { otlpExporter } from '../serve/otlp.js';
import { followExports, Owner } from '../serve/owners.js';
import { type Finding, finding, ok } from './finding.js';

const TIMEOUT_MS = 5_000;

/** @throws NixlTelemetryError CONFIG_INVALID for a wrong variable; Failure without the package for gRPC. */
export async function receiverFindings(settings: ServeSettings): Promise<Finding[]> {
  const { otlpEndpoint, otlpProtocol } = settings;
  checkOtlpEnvironment(process.env, otlpProtocol);
  const subject = `OTLP receiver ${collectorUrl(otlpEndpoint, otlpProtocol, process.env)}`;
  const problem = await emptyPush(settings);
  if (problem === undefined) return [ok('receiver', subject, `takes a push without metrics, by ${otlpProtocol}`)];
  const values = { URL: collectorUrl(otlpEndpoint, otlpProtocol, process.env) };
  return [finding('receiver-fails', { subject, what: `a push without metrics fails: ${problem}`, values })];
}

/** Returns the reason if the push fails. OTEL_EXPORTER_OTLP_TIMEOUT may be longer than doctor waits. */
async function emptyPush(settings: ServeSettings): Promise<string | undefined> {
  followExports();
  const owner = new Owner('doctor', { isBuiltIn: true });
  const exporter = await otlpExporter(settings, TIMEOUT_MS);
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
  return Promise.race([ended, pause(TIMEOUT_MS, `no answer in ${TIMEOUT_MS / 1000} s`)]);
}

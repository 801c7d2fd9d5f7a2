/** A real Prometheus 3 that gets OTLP. */
import { OTLP_RECEIVER, type OtlpBackend, startConfigured } from '../servers/backends.js';

/** Starts one that accepts OTLP, delta sums as well. `settings`: of OTLP in its configuration. */
export async function startOtlpPrometheus(settings: object = {}): Promise<OtlpBackend> {
  // A collector's queue sends again what it has already sent, and in another order.
  const storage = { tsdb: { out_of_order_time_window: '1h' } };
  const flags = [...OTLP_RECEIVER.flags, '--enable-feature=otlp-native-delta-ingestion'];
  const backend = await startConfigured({ otlp: settings, storage }, flags);
  return Object.assign(backend, { pushTo: OTLP_RECEIVER.urlAt(backend) });
}

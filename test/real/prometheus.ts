/** A real Prometheus 3 that gets OTLP. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Backend, type OtlpBackend } from '../servers/backends.js';
import { Server } from '../servers/server.js';

/** Starts one that accepts OTLP, delta sums as well. `settings`: of OTLP in its configuration. */
export async function startOtlpPrometheus(settings: object = {}): Promise<OtlpBackend> {
  const server = await Server.start({
    program: 'prometheus',
    ready: '/-/ready',
    args: (directory, address) => {
      const config = path.join(directory, 'prometheus.yml');
      // A collector's queue sends again what it has already sent, and in another order.
      const storage = { tsdb: { out_of_order_time_window: '1h' } };
      writeFileSync(config, JSON.stringify({ otlp: settings, storage })); // JSON is YAML
      return [
        `--config.file=${config}`,
        `--storage.tsdb.path=${path.join(directory, 'data')}`,
        `--web.listen-address=${address}`,
        '--web.enable-otlp-receiver',
        '--enable-feature=otlp-native-delta-ingestion',
      ];
    },
  });
  return Object.assign(new Backend(server), { pushTo: `${server.url}/api/v1/otlp/v1/metrics` });
}

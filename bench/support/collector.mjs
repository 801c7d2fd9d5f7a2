/** A real OpenTelemetry Collector as a gateway, in front of a backend that accepts everything. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from './command.mjs';
import { freePort } from './free-port.mjs';

/** Folder of the collector that `npm run test:real` builds. */
const CACHE = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'nixl-otel-tests');
/** Times in /proc/PID/stat are in ticks of 10 ms, on all platforms of Node. */
const TICK_MS = 10;

/** Returns the program of the variable COLLECTOR, or the one that test:real built last; undefined without one. */
export function collectorProgram() {
  if (process.env.COLLECTOR) return process.env.COLLECTOR;
  const built = existsSync(CACHE) ? readdirSync(CACHE).filter((file) => /^collector-[0-9a-f]{16}$/.test(file)) : [];
  const files = built.map((file) => path.join(CACHE, file));
  return files.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
}

export class Gateway {
  endpoint;
  #command;
  #backend;
  #directory;

  static async start(program) {
    const gateway = new Gateway();
    const directory = (gateway.#directory = mkdtempSync(path.join(tmpdir(), 'nixl-otel-collector-')));
    gateway.#backend = await acceptAll();
    const [receiver, health] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    const config = path.join(directory, 'collector.json');
    const content = {
      extensions: { health_check: { endpoint: health } },
      receivers: { otlp: { protocols: { http: { endpoint: receiver } } } },
      processors: { memory_limiter: { check_interval: '1s', limit_mib: 2048 }, batch: {} },
      exporters: { otlp_http: { endpoint: `http://127.0.0.1:${gateway.#backend.address().port}` } },
      service: {
        extensions: ['health_check'],
        telemetry: { metrics: { level: 'none' } },
        pipelines: {
          metrics: { receivers: ['otlp'], processors: ['memory_limiter', 'batch'], exporters: ['otlp_http'] },
        },
      },
    };
    writeFileSync(config, JSON.stringify(content)); // JSON is YAML
    gateway.endpoint = `http://${receiver}`;
    gateway.#command = new Command(program, [`--config=${config}`]);
    await gateway.#command.until(() =>
      fetch(`http://${health}`).then(
        (answer) => answer.ok,
        () => false,
      ),
    );
    return gateway;
  }

  /** CPU time since its start. */
  cpuMs() {
    const stat = readFileSync(`/proc/${this.#command.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS; // utime and stime
  }

  rssMiB() {
    const status = readFileSync(`/proc/${this.#command.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)[1]) / 1024;
  }

  async stop() {
    await this.#command.stop();
    this.#backend.close();
    this.#backend.closeAllConnections();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function acceptAll() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

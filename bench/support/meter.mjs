/** Stands between pushing hosts and a receiver, and counts pushes and their bytes. */
import http from 'node:http';
import { gzipSync } from 'node:zlib';

export class Meter {
  pushes = 0;
  bytes = 0;
  gzipBytes = 0;
  endpoint;
  #server;
  #agent = new http.Agent({ keepAlive: true });

  /** `receiver`: URL of the endpoint that gets the pushes. */
  static async start(receiver) {
    const meter = new Meter();
    meter.#server = http.createServer((request, response) => void meter.#pass(request, response, receiver));
    await new Promise((resolve) => meter.#server.listen(0, '127.0.0.1', resolve));
    meter.endpoint = `http://127.0.0.1:${meter.#server.address().port}`;
    return meter;
  }

  get counts() {
    return { pushes: this.pushes, bytes: this.bytes, gzipBytes: this.gzipBytes };
  }

  stop() {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
  }

  async #pass(request, response, receiver) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const headers = { 'content-type': request.headers['content-type'], 'content-length': body.length };
    const options = { method: 'POST', agent: this.#agent, headers };
    const next = http.request(new URL(request.url, receiver), options, (answer) => {
      if (answer.statusCode === 200) {
        this.pushes++;
        this.bytes += body.length;
        this.gzipBytes += gzipSync(body).length;
      }
      response.writeHead(answer.statusCode);
      answer.pipe(response);
    });
    next.on('error', () => response.destroy());
    next.end(body);
  }
}

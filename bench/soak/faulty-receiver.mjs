// A faulty OTLP receiver: in turn it accepts, refuses, drops the connection and never answers.
import { createServer } from 'node:http';

export async function startFaultyReceiver() {
  const seen = { taken: 0, refused: 0, dropped: 0, ignored: 0 };
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on('error', () => {});
    request.on('end', () => {
      switch (requests++ % 4) {
        case 0:
          seen.taken++;
          return response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
        case 1:
          seen.refused++;
          return response.writeHead(503).end();
        case 2:
          seen.dropped++;
          return request.socket.destroy();
        default:
          seen.ignored++;
      }
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}/v1/metrics`, seen, close };
}

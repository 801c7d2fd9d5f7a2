// A service without telemetry.
import { createServer } from 'node:http';

const server = createServer((_, response) => response.end('hello\n')).listen(0, '127.0.0.1');
process.once('SIGTERM', () => server.close());
console.log('started');

/**
 * A hostile client in a process of its own: opens connections, sends requests on each of them at once, and reads no answer.
 * Argument: JSON with `host`, `port`, `isSecure`, `connections`, and the text of the `requests`. Prints `sent` when the kernel has all
 * of them or the server has closed the connections, and `open N.` whenever the server has closed one.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectSecure } from 'node:tls';

const { host, port, isSecure, connections, requests } = JSON.parse(process.argv[2]);
const options = { host, port, localAddress: '127.0.0.2', rejectUnauthorized: false };
let open = connections;

async function attack() {
  const socket = isSecure ? connectSecure(options) : connect(options);
  await once(socket, isSecure ? 'secureConnect' : 'connect');
  socket.on('error', () => {}); // the server closes the connection
  const closed = once(socket, 'close').then(() => console.log(`open ${(open -= 1)}.`));
  await Promise.race([new Promise((resolve) => socket.write(requests, resolve)), closed]);
}

await Promise.all(Array.from({ length: connections }, attack));
console.log('sent');
setInterval(() => {}, 2 ** 30);

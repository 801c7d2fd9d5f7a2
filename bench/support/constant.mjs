// `node constant.mjs URL` with an IPC channel: fetches a page once and serves its bytes with node:http. It is the yardstick
// of a scrape: an answer of this size without the work of making it. Sends its address to the parent.
import http from 'node:http';

const response = await fetch(process.argv[2], { headers: { 'accept-encoding': 'identity' } });
const body = Buffer.from(await response.arrayBuffer());
const server = http.createServer((_, answer) => {
  answer.writeHead(200, { 'content-type': 'text/plain', 'content-length': body.length }).end(body);
});
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}/` }));

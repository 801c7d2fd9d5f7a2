/** Scrapes like those of Prometheus: compressed, over a kept connection. */
import http from 'node:http';
import { gunzipSync } from 'node:zlib';

const agent = new http.Agent({ keepAlive: true });

/** Scrapes once. @returns the time, the bytes over the wire, and the agents in the exposition. */
export async function scrape(url) {
  const begun = performance.now();
  const packed = await get(url);
  const ms = performance.now() - begun;
  const page = gunzipSync(packed);
  return { ms, packedBytes: packed.length, bytes: page.length, agents: countOf(page, '\nnixl_agent_up{') };
}

function get(url) {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent, headers: { 'accept-encoding': 'gzip' } }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => resolve(Buffer.concat(parts)));
    });
    request.on('error', reject);
  });
}

function countOf(page, text) {
  let count = 0;
  for (let at = page.indexOf(text); at >= 0; at = page.indexOf(text, at + 1)) count++;
  return count;
}

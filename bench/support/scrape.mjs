/** Scrapes like those of Prometheus: compressed, over a kept connection. */
import http from 'node:http';
import { gunzipSync } from 'node:zlib';
import { PbfReader } from 'pbf';

/** Values of the header Accept. */
export const TEXT = 'text/plain;version=0.0.4';
export const PROTOBUF = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited';

const agent = new http.Agent({ keepAlive: true });

/** Scrapes once. @returns the time, the bytes over the wire, the exposition, and the agents in its text. */
export async function scrape(url, accept = TEXT) {
  const begun = performance.now();
  const packed = await get(url, accept);
  const ms = performance.now() - begun;
  const page = gunzipSync(packed);
  return { ms, packedBytes: packed.length, bytes: page.length, page, agents: countOf(page, '\nagent_tx_bytes_total{') };
}

/** Scrapes once and reads nothing. @returns the time, and the bytes over the wire. */
export async function timedScrape(url, { accept = TEXT, encoding = 'identity' } = {}) {
  const begun = performance.now();
  const { length } = await get(url, accept, encoding);
  return { ms: performance.now() - begun, bytes: length };
}

/** Each metric of each family is a series, as Prometheus stores native histograms. */
export function protobufSeries(page) {
  const reader = new PbfReader(page);
  let series = 0;
  while (reader.pos < reader.length) reader.readMessage((field) => (series += field === 4 ? 1 : 0), undefined);
  return series;
}

function get(url, accept, encoding = 'gzip') {
  return new Promise((resolve, reject) => {
    const headers = { accept, 'accept-encoding': encoding };
    const request = http.get(url, { agent, headers }, (response) => {
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

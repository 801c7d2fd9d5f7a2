/**
 * Every raw event into a CSV file: timestamp, category, name, value. The file is rotated by size, written in the
 * background, and never held up by: what the disk cannot take in time is dropped and counted.
 *
 *   node examples/csv-sink.mjs [DIR]    where the files are made and stay; without it, their beginning is printed
 */
import { createWriteStream, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { NixlMetricProducer } from 'opentelemetry-instrumentation-nixl';
import { ringDirectory, runAgents } from './support.mjs';

const HEADER = 'timestamp,category,name,value\n';

export class CsvSink {
  name = 'csv';
  dropped = 0;
  written = 0;

  /** `maxBytes`: of one file; `keep`: how many full ones stay beside it; `maxQueuedBytes`: what may wait for the disk. */
  constructor(file, { maxBytes = 64 * 2 ** 20, keep = 3, maxQueuedBytes = 16 * 2 ** 20 } = {}) {
    Object.assign(this, { file, maxBytes, keep, maxQueuedBytes });
    this.full = []; // streams that still write out what they have
  }

  create() {
    this.stream ??= this.#open();
  }

  take(events) {
    if (this.stream.writableLength > this.maxQueuedBytes) {
      this.dropped += events.length;
      return;
    }
    const text = events.map(line).join('');
    this.bytes += Buffer.byteLength(text);
    this.written += events.length;
    this.stream.write(text);
    if (this.bytes > this.maxBytes) this.#rotate();
  }

  /** Ends when all of it is in the files. */
  async end() {
    const streams = [...this.full, this.stream].filter((stream) => stream !== undefined && !stream.closed);
    this.stream = undefined;
    await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('close', resolve).end())));
  }

  #open() {
    this.bytes = existingBytes(this.file);
    // Opened at once: a stream by itself would do it later, and by then the name may be another file's.
    const stream = createWriteStream(this.file, { fd: openSync(this.file, 'a') });
    // A full disk must not end the service: what was not written is lost, and said.
    stream.on('error', (error) => console.error(`${this.file}: ${error.message}`));
    if (this.bytes === 0) stream.write(HEADER);
    return stream;
  }

  /** A stream goes on writing to its file under the file's new name. */
  #rotate() {
    this.stream.end();
    this.full = [...this.full.filter((stream) => !stream.closed), this.stream];
    for (let n = this.keep - 1; n >= 1; n--) renameIfThere(`${this.file}.${n}`, `${this.file}.${n + 1}`);
    renameIfThere(this.file, `${this.file}.1`);
    this.stream = this.#open();
  }
}

function line({ timeMs, category, event, value, exact }) {
  const name = /[",\r\n]/.test(event) ? `"${event.replaceAll('"', '""')}"` : event;
  return `${new Date(timeMs).toISOString()},${category},${name},${Number.isSafeInteger(value) ? value : exact}\n`;
}

function existingBytes(file) {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function renameIfThere(from, to) {
  if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, to);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const directory = ringDirectory();
  const kept = process.argv[2];
  const file = path.join(kept ?? ringDirectory(), 'events.csv');
  const sink = new CsvSink(file, kept === undefined ? {} : { maxBytes: 20_000, keep: 20 });
  const producer = new NixlMetricProducer({ directories: directory, builders: ['nixl', sink] });
  await runAgents(directory);
  await producer.collect(); // takes what is still in the rings
  producer.close();
  await sink.end();
  const where =
    kept === undefined ? 'a CSV file that goes away with this program' : `${file} and the files that it was rotated to`;
  console.log(`${sink.written} events in ${where}; ${sink.dropped} dropped`);
  if (kept === undefined) console.log(readFileSync(file, 'utf8').split('\n').slice(0, 5).join('\n'));
}

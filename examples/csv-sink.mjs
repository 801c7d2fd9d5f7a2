/**
 * Writes every raw event to a CSV file: timestamp, category, name, value. Rotates the file by size and writes in the
 * background. Never blocks: drops and counts events that the disk is too slow for.
 *
 *   node examples/csv-sink.mjs [DIR]    DIR: keeps the files there; without it, prints the first lines
 */
import { createWriteStream, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { NixlMetricProducer } from 'opentelemetry-instrumentation-nixl';
import { isProgram, ringDirectory, runAgents } from './support.mjs';

const HEADER = 'timestamp,category,name,value\n';

export class CsvSink {
  name = 'csv';
  dropped = 0;
  written = 0;

  /**
   * `maxBytes`: size of one file; `keep`: number of full files kept; `maxQueuedBytes`: limit of bytes not yet on disk.
   * Throws if the file cannot be opened: a wrong path stops the service at its start.
   */
  constructor(file, { maxBytes = 64 * 2 ** 20, keep = 3, maxQueuedBytes = 16 * 2 ** 20 } = {}) {
    Object.assign(this, { file, maxBytes, keep, maxQueuedBytes });
    this.full = []; // streams with bytes that are not yet on disk
    this.create();
  }

  create() {
    this.stream ??= this.#open();
  }

  take(events) {
    if (this.stream.destroyed || this.stream.writableLength > this.maxQueuedBytes) {
      this.dropped += events.length;
      return;
    }
    const text = events.map(line).join('');
    this.bytes += Buffer.byteLength(text);
    this.written += events.length;
    this.stream.write(text);
    if (this.bytes > this.maxBytes) this.#rotate();
  }

  /** Resolves when the files hold all events. */
  async end() {
    const streams = [...this.full, this.stream].filter((stream) => stream !== undefined && !stream.closed);
    this.stream = undefined;
    await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('close', resolve).end())));
  }

  #open() {
    this.bytes = existingBytes(this.file);
    // Opens the file at once: a stream opens it later, when the name may belong to another file.
    const stream = createWriteStream(this.file, { fd: openSync(this.file, 'a') });
    // A full disk must not end the service: the events are lost, and the error is printed.
    stream.on('error', (error) => {
      this.error = error;
      console.error(`${this.file}: ${error.message}`);
    });
    if (this.bytes === 0) stream.write(HEADER);
    return stream;
  }

  /** Renames the files; a stream keeps writing to its file under the new name. */
  #rotate() {
    this.stream.end();
    this.full = [...this.full.filter((stream) => !stream.closed), this.stream];
    for (let n = this.keep - 1; n >= 1; n--) renameIfExists(`${this.file}.${n}`, `${this.file}.${n + 1}`);
    renameIfExists(this.file, `${this.file}.1`);
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

function renameIfExists(from, to) {
  if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, to);
}

function openSink(file, options) {
  try {
    return new CsvSink(file, options);
  } catch (error) {
    console.error(`csv-sink: ${error.message}`);
    process.exit(1);
  }
}

if (isProgram(import.meta.url)) {
  const directory = ringDirectory();
  const kept = process.argv[2];
  const file = path.join(kept ?? ringDirectory(), 'events.csv');
  const sink = openSink(file, kept === undefined ? {} : { maxBytes: 20_000, keep: 20 });
  const producer = new NixlMetricProducer({ directories: directory, builders: ['nixl', sink] });
  await runAgents(directory);
  await producer.collect(); // drains the rest of the rings
  producer.close();
  await sink.end();
  const where = kept === undefined ? 'a CSV file that this program removes at exit' : `${file} and its rotated files`;
  console.log(`${sink.written} events in ${where}; ${sink.dropped} dropped`);
  if (sink.error !== undefined) process.exitCode = 1;
  if (kept === undefined) console.log(readFileSync(file, 'utf8').split('\n').slice(0, 5).join('\n'));
}

/** Pages of one reader in one form: templates are kept, and native code fills the numbers into them. */
import type { MetricData } from '@opentelemetry/sdk-metrics';
import { TimeSlices } from '../../ground/time-slices.js';
import type { AgentSeries } from '../../instrumentation/agents/agent-series.js';
import type { PageAgents, PageMetrics } from '../../instrumentation/producer/metric-producer.js';
import { DataPointType } from '../../instrumentation/sdk-enums.js';
import { addon } from '../../shm-bridge/addon.js';
import { roomFor, wholeBuffer } from '../http/room.js';
import { type AgentTemplate, agentTemplate } from './agent-template.js';
import { dataPart, type NamedData } from './data-template.js';
import type { FamilyPlace } from './family-places.js';
import type { Form } from './forms.js';
import { type Family, FamilyNames } from './spelling.js';
import { ABSENT, givenNumber, type PagePart } from './template.js';

/** Families times agents that are filled without a turn for other work: at most about a millisecond. */
const MOST_OF_STEP = 16_000;
const TARGET: Family = { name: 'target_info', help: 'Target metadata', unit: '', type: 'gauge' };

/**
 * Makes the pages of one reader. An agent or a metric is forgotten with the first page that lacks it. Labels of the scope are
 * left out: NIXL's series have NIXL's labels and no others.
 */
export class Page<Labels> {
  readonly #form: Form<Labels>;
  readonly #hasTargetInfo: boolean;
  readonly #names = new FamilyNames();
  #templates = new WeakMap<AgentSeries, AgentTemplate>();
  #places: FamilyPlace[] = [];
  /** The page, or memory for the next one. */
  #room: Uint8Array | undefined;
  #length = 0;

  constructor(form: Form<Labels>, hasTargetInfo = true) {
    this.#form = form;
    this.#hasTargetInfo = hasTargetInfo;
  }

  /** Places of the families on the last page. */
  get places(): readonly FamilyPlace[] {
    return this.#places;
  }

  /** Must not be called again before the returned promise is settled. */
  async page({ resource, agents, scopeMetrics }: PageMetrics, slices = new TimeSlices()): Promise<Uint8Array> {
    const room = roomFor(this.#length, this.#room);
    this.#room = undefined;
    const parts: PagePart[] = [];
    if (this.#hasTargetInfo) parts.push(await dataPart(this.#form, [[TARGET, target(resource)]], slices));
    if (agents !== undefined && agents.views.length > 0) parts.push(await this.#agentsPart(agents, slices));
    const data: NamedData[] = [];
    for (const { metrics } of scopeMetrics) {
      for (const metric of metrics) {
        const pause = slices.turn();
        if (pause !== undefined) await pause;
        const family = this.#names.of(metric);
        if (family !== undefined) data.push([family, metric]);
      }
    }
    this.#names.endPage();
    if (data.length > 0) parts.push(await dataPart(this.#form, data, slices));
    const page = new GrowingPage(room);
    const places: FamilyPlace[] = [];
    const names = new Set(parts.flatMap(({ families }) => families.map((family) => family?.name ?? '')));
    for (const part of parts) await this.#fill(part, names, page, places, slices);
    const hasMetrics = places.some(({ family }) => family !== TARGET);
    page.text(hasMetrics ? this.#form.end : `${this.#form.empty}${this.#form.end}`);
    this.#places = places;
    this.#length = page.length;
    return page.room.subarray(0, page.length);
  }

  /** Makes the next page in the memory of this one, which is no longer in use. */
  reuse(page: Uint8Array): void {
    this.#room = wholeBuffer(page);
  }

  /** Makes a template for each agent that is new or has other series than on the last page. */
  async #agentsPart({ metrics, views, takenMs, words }: PageAgents, slices: TimeSlices): Promise<PagePart> {
    const families = this.#names.ofMetrics(metrics);
    const templates: AgentTemplate['handle'][] = [];
    const given: number[] = [];
    const places = new Uint32Array(3 * views.length);
    for (const [i, view] of views.entries()) {
      const pause = slices.turn();
      if (pause !== undefined) await pause;
      const { agent, series } = view;
      let template = this.#templates.get(series);
      if (template?.layout !== agent.layout || template.startTimeMs !== agent.startTimeMs) {
        template = agentTemplate(this.#form, metrics, families, view, agent);
        this.#templates.set(series, template);
      }
      templates.push(template.handle);
      for (const read of template.readings) {
        const value = read(agent, takenMs);
        given.push(value === undefined ? ABSENT : givenNumber(value));
      }
      places.set([agent.at, agent.length, given.length], 3 * i);
    }
    return { families, isKept: false, templates, words, places, given: Float64Array.from(given) };
  }

  async #fill(
    { families, isKept, templates, words, places, given }: PagePart,
    names: ReadonlySet<string>,
    page: GrowingPage,
    familyPlaces: FamilyPlace[],
    slices: TimeSlices,
  ): Promise<void> {
    const parts = families.map((family) => (family === undefined ? NO_BYTES : this.#form.head(family, names)));
    const heads = Buffer.concat(parts);
    let end = 0;
    const headEnds = Uint32Array.from(parts, ({ length }) => (end += length));
    const flags = Number(this.#form.isDelimited) + 2 * Number(isKept);
    const step = Math.max(1, Math.floor(MOST_OF_STEP / templates.length));
    for (let first = 0; first < families.length;) {
      const pause = first === 0 ? undefined : slices.turn();
      if (pause !== undefined) await pause;
      const ends = new Uint32Array(Math.min(step, families.length - first));
      const { room, length } = page;
      const filled = addon().fillPage(
        ...([room, length, heads, headEnds, flags, templates, words, places, given, first, ends] as const),
      );
      if (filled < 0) {
        page.grow();
        continue;
      }
      for (const [i, end] of ends.entries()) {
        const family = families[first + i];
        const begin = i === 0 ? length : ends[i - 1]!;
        if (family !== undefined && end > begin) familyPlaces.push({ family, begin, end });
      }
      page.length = filled;
      first += ends.length;
    }
  }
}

const NO_BYTES = new Uint8Array(0);

function target({ attributes }: PageMetrics['resource']): Pick<MetricData, 'dataPointType' | 'dataPoints'> {
  return {
    dataPointType: DataPointType.GAUGE,
    dataPoints: [{ attributes, value: 1, startTime: [0, 0], endTime: [0, 0] }],
  };
}

class GrowingPage {
  room: Uint8Array;
  length = 0;

  constructor(room: Uint8Array) {
    this.room = room;
  }

  text(text: string): void {
    while (this.length + text.length > this.room.length) this.grow();
    this.length += Buffer.from(this.room.buffer, this.room.byteOffset).write(text, this.length, 'latin1');
  }

  grow(): void {
    const larger = new Uint8Array(Buffer.allocUnsafeSlow(Math.max(4096, 2 * this.room.length)).buffer);
    larger.set(this.room.subarray(0, this.length));
    this.room = larger;
  }
}

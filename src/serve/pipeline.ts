/** Pipeline of serve: one source, and one output per exporter. */
import { intervalText } from '../ground/figures/clock.js';
import { diag } from '@opentelemetry/api';
import type { IdentifiedAgent } from '../instrumentation/agents/agent-identities.js';
import { BuilderMetrics } from '../instrumentation/builders/builder-metrics.js';
import { type ProducerSettings, warnOfNoEffect } from '../settings/settings.js';
import { LateFeed, SourceFeed } from '../instrumentation/feed/snapshot-feed.js';
import type { AccessCounts, FindingCount, ServeState } from '../instrumentation/serve-state.js';
import { PACKAGE_NAME } from '../ground/package.js';
import { slownessCounts } from './incidents/finding-counts.js';
import type { WayWords } from '../mapping/naming.js';
import { addon } from '../shm-bridge/addon.js';
import { openSource, type SnapshotWants } from '../shm-bridge/index.js';
import type { AgentSnapshot } from '../ground/tally.js';
import type { TimeSlices } from '../ground/time-slices.js';
import { note } from '../process/output.js';
import { ExportLog } from './outputs/export-log.js';
import type { FindingLog } from './outputs/finding-log.js';
import type { Output } from './outputs/output.js';
import { exporterLabels, openOutput } from './outputs/outputs.js';
import { ownProcess } from './own-process.js';
import type { ServeResource } from './outputs/resource.js';
import type { ServeSettings } from '../settings/serve-rows.js';

export type MetricsPipeline = Awaited<ReturnType<typeof openPipeline>>;

/**
 * Opens the exporters before the source: if one of them cannot be opened, no event is taken out of a ring. `beforeDrains` runs
 * between both. `access`: what a web configuration refuses.
 * @throws NixlTelemetryError CONFIG_INVALID, ADDON_MISSING; Failure
 */
export async function openPipeline(
  { source: sourceOptions, ...profile }: ProducerSettings,
  settings: ServeSettings,
  beforeDrains: () => Promise<void>,
  access?: AccessCounts,
) {
  const logger = diag.createComponentLogger({ namespace: PACKAGE_NAME });
  warnOfNoEffect(profile, logger);
  const builderMetrics = BuilderMetrics.of(profile, logger);
  const identify = (agents: readonly IdentifiedAgent[], slices: TimeSlices): Promise<void> =>
    builderMetrics.agentAttributes.identities.prepare(agents, slices);
  const feed = new LateFeed();
  const labels = exporterLabels(settings.exporter);
  const exportLogs = new Map([...labels].map(([name, label]) => [name, new ExportLog(label)]));
  let findings: (() => readonly FindingCount[]) | undefined;
  const serveState = (): ServeState => ({
    exporters: [...exportLogs.values()].map((log) => log.state()),
    process: ownProcess(),
    access,
    // Without a live page nothing else is judged.
    findings: findings?.() ?? slownessCounts(sourceFeed.sizes.judge.facts, Date.now()),
  });
  const shared = { ...profile, feed, builderMetrics };
  let loaded: Promise<ServeResource> | undefined;
  const resource = (): Promise<ServeResource> =>
    (loaded ??= import('./outputs/resource.js').then((module) => new module.ServeResource(sourceOptions)));
  const outputs: Output[] = [];
  let sourceFeed: SourceFeed;
  let findingLog: FindingLog | undefined;
  try {
    for (const name of settings.exporter) {
      outputs.push(await openOutput(name, { settings, shared, resource, exportLogs }));
    }
    if (settings.otlpFindings === 'on') {
      const { openFindingLog } = await import('./outputs/finding-log.js');
      outputs.push((findingLog = await openFindingLog(settings, await resource())));
    }
    await builderMetrics.begin();
    await beforeDrains();
    addon().shareFreedMemory();
    const state = settings.state === 'on';
    const allocatePages = settings.allocatePages === 'on';
    const removeEndedAfterMs = settings.removeEndedAfter ?? 0;
    const source = openSource({
      ...sourceOptions,
      ...builderMetrics.wants,
      state,
      allocatePages,
      removeEndedAfterMs,
    });
    sourceFeed = new SourceFeed(source, logger, {
      serveState: profile.hasOwnMetrics ? serveState : undefined,
      prepare: identify,
    });
    builderMetrics.attach(sourceFeed.source);
    feed.attach(sourceFeed);
    // Opens all rings before the first scrape: an agent's start time after a scrape would let Prometheus count its sums twice.
    await sourceFeed.source.drain();
  } catch (error) {
    await closeAll(outputs, settings.shutdownTimeout);
    throw error;
  }
  return {
    /** Handles requests for the exposition, if an exporter is scraped. */
    exposition: outputs.find(({ exposition }) => exposition !== undefined)?.exposition,
    /** Drains the rings and returns their totals. */
    read: () => sourceFeed.read(outputs),
    /** Returns the totals so far and drains nothing. */
    peek: (wants?: SnapshotWants) => sourceFeed.peek(wants),
    peekInSlices: (slices: TimeSlices, wants?: SnapshotWants) => sourceFeed.peekInSlices(slices, wants),
    /** Sends what begins and ends, if the settings ask for it. */
    findingLog,
    /** Begins to watch time by size. */
    sizes: () => sourceFeed.sizes,
    /** Adds counts of findings to the metrics of serve about itself. */
    showFindings: (counts: () => readonly FindingCount[]): void => {
      findings = counts;
    },
    /** Adds the ways of agents to `nixl.agent.info`. */
    showWays: (waysOf: (id: number) => WayWords | undefined): void => {
      builderMetrics.agentAttributes.waysOf = waysOf;
    },
    /** Returns the configured attributes of an agent's series. */
    attributesOf: (agent: AgentSnapshot) => builderMetrics.agentAttributes.of(agent),
    engineOf: (agent: IdentifiedAgent) => builderMetrics.agentAttributes.identities.of(agent),
    /** Lets engineOf() read nothing. */
    identify,
    failingExporters: () =>
      outputs.flatMap(({ name, failing }) => {
        const failure = failing?.();
        return failure === undefined ? [] : [{ name: labels.get(name) ?? name, ...failure }];
      }),
    /**
     * Releases the rings, and lets all outputs export once more, in parallel and within the limit. The next process gets the rings
     * at once, even if a receiver is slow.
     */
    async close(): Promise<void> {
      try {
        await sourceFeed.end((last) => builderMetrics.handOver(last));
        await closeAll(outputs, settings.shutdownTimeout);
      } finally {
        builderMetrics.close();
        sourceFeed.close();
      }
    },
  };
}

async function closeAll(outputs: readonly Output[], limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), limitMs);
  });
  await Promise.all(
    outputs.map(async (output) => {
      const { name } = output;
      const end = Promise.resolve()
        .then(() => output.close())
        .catch((error: unknown) => note(`exporter ${name}: ${String(error)}`, 'warning'));
      if ((await Promise.race([end, late])) === 'late') {
        note(`exporter ${name} did not end in ${intervalText(limitMs)}: its last export may be missing`, 'warning');
      }
    }),
  );
  clearTimeout(timer);
}

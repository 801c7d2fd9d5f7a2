// `node service.mjs KIND DIRECTORY AGENTS`: a service without other work. KIND is `empty`, or `instrumentation`: with
// NixlInstrumentation and a MeterProvider. It reports over IPC when it is ready.
const [kind, directory, agentsText] = process.argv.slice(2);

const kinds = {
  empty: () => {},
  instrumentation: async () => {
    const { MeterProvider, MetricReader } = await import('@opentelemetry/sdk-metrics');
    const { registerInstrumentations } = await import('@opentelemetry/instrumentation');
    const { NixlInstrumentation } = await import('../../dist/index.js');
    class AskedReader extends MetricReader {
      onForceFlush() {}
      onShutdown() {}
    }
    const reader = new AskedReader();
    const meterProvider = new MeterProvider({ readers: [reader] });
    registerInstrumentations({
      meterProvider,
      instrumentations: [new NixlInstrumentation({ directories: directory })],
    });
    // Waits until it reports all agents: from then on its work does not change.
    for (;;) {
      const { resourceMetrics } = await reader.collect();
      const up = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
      const found = up.find(({ descriptor }) => descriptor.name === 'nixl.agent.up')?.dataPoints.length ?? 0;
      if (found >= Number(agentsText)) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  },
};
await kinds[kind]();
process.send({ ready: true });

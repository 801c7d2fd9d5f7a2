// A service whose SDK is described in a file (OTEL_CONFIG_FILE). The function has another spelling in each line.
import * as sdk from '@opentelemetry/sdk-node';

const started = (sdk.startNodeSdk ?? sdk.startNodeSDK)();
const work = setInterval(() => {}, 1_000_000);
process.once('SIGTERM', () => {
  clearInterval(work);
  void started.shutdown();
});
console.log('started');

// A service whose SDK is described in a file (OTEL_CONFIG_FILE). The function has another spelling in each line.
import * as sdk from '@opentelemetry/sdk-node';

const started = (sdk.startNodeSdk ?? sdk.startNodeSDK)();
process.once('SIGTERM', () => void started.shutdown());
await import('./plain.mjs'); // what it is for

// A service that describes its SDK in a file (OTEL_CONFIG_FILE). Each line spells the function differently.
import * as sdk from '@opentelemetry/sdk-node';

const started = (sdk.startNodeSdk ?? sdk.startNodeSDK)();
process.once('SIGTERM', () => void started.shutdown());
await import('./plain.mjs'); // the service's work

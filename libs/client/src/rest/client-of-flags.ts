/** The client of a component, as its flags configure it. */
import type { ClientOptions, Logger, Metrics } from '@orch/component';
import { ClientMetrics } from './client-metrics.js';
import type { KubeconfigCredentials } from './kubeconfig-credentials.js';
import { RestClient } from './rest-client.js';

/** Returns a client that uses `credentials`, and follows their rotation. */
export function clientOfFlags(
  options: ClientOptions,
  credentials: KubeconfigCredentials,
  logger: Logger,
  metrics: Metrics,
): RestClient {
  const client = new RestClient({
    ...credentials.clientOptions(),
    qps: options.apiQps,
    burst: options.apiBurst,
    sendsProtobuf: options.apiContentType !== 'application/json',
    logger,
    metrics: new ClientMetrics(metrics),
  });
  credentials.follow(client);
  return client;
}

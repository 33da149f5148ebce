/** The client of a component, connected and limited as its flags say. */
import { type ClientOptions, connectionOf, type Logger, type Metrics } from '@orch/component';
import { ClientMetrics } from './client-metrics.js';
import { restClientOptions } from './from-connection.js';
import { RestClient } from './rest-client.js';

/** Throws `ValueError` without a kubeconfig, `KubeconfigError` with a broken one. */
export function clientOfFlags(
  options: ClientOptions,
  logger: Logger,
  metrics: Metrics,
): RestClient {
  return new RestClient({
    ...restClientOptions(connectionOf(options.requiredKubeconfig())),
    qps: options.apiQps,
    burst: options.apiBurst,
    logger,
    metrics: new ClientMetrics(metrics),
  });
}

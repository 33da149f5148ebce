/** Flags of aggregated API servers. */
import { Flag } from '@orch/component';

export class AggregationOptions {
  @Flag({
    name: 'proxy-client-cert-file',
    description:
      'PEM client certificate that this server presents to aggregated API servers, reloaded when the file changes; empty: none, and servers that trust only the front-proxy authority reject the requests',
    default: '',
  })
  proxyCertificateFile!: string;

  @Flag({
    name: 'proxy-client-key-file',
    description: 'PEM key of --proxy-client-cert-file',
    default: '',
  })
  proxyKeyFile!: string;

  @Flag({
    name: 'enable-resource-metrics',
    description:
      'serve the usage of nodes and pods, which node agents measure, in the metrics group, unless its API service names another server; without it, autoscalers and the top command need a metrics server',
    default: false,
  })
  enableResourceMetrics!: boolean;

  @Flag({
    name: 'enable-aggregator-routing',
    description:
      'connect to the endpoints of the service of an aggregated API server instead of its cluster address; needed where this machine does not route cluster addresses',
    default: false,
  })
  routesToEndpoints!: boolean;
}

/** All flags of the service proxy process. */
import { ClientOptions, CommonOptions, Flag, Flags, ServingOptions } from '@orch/component';
import { ProxyOptions } from '@orch/proxying';

export class ProxyProcessOptions {
  @Flags(CommonOptions)
  common!: CommonOptions;

  @Flags(ClientOptions)
  client!: ClientOptions;

  @Flags(ServingOptions, { 'secure-port': 10_256 })
  serving!: ServingOptions;

  @Flags(ProxyOptions)
  proxy!: ProxyOptions;

  @Flag({
    name: 'teardown-only',
    description:
      'remove the service addresses that a proxy with this --kubeconfig has left, and end',
  })
  teardownOnly = false;
}

/** Creates the provider that the flags select; undefined if there is none in this process. */
import type { Node } from '@orch/types/core/v1';
import type { ControllerContext } from '../common/controller.js';
import type { ProviderOptions } from '../common/provider-options.js';
import { AnnouncedRoutes } from './announced-routes.js';
import { readPoolConfiguration } from './pool-configuration.js';
import { PoolLoadBalancers } from './pool-load-balancers.js';
import type { Machines, Provider } from './provider.js';

/** Throws `UsageError` if the configuration file is invalid. */
export function createProvider(
  context: ControllerContext,
  options: ProviderOptions,
): Provider | undefined {
  if (options.cloudProvider !== 'pool') return undefined;
  const { ranges, machines } = readPoolConfiguration(options.cloudConfig);
  return {
    ...(ranges.length > 0 && { loadBalancers: new PoolLoadBalancers(context, ranges) }),
    ...(machines && { machines: listedMachines(machines) }),
    routes: new AnnouncedRoutes(context, options.clusterName),
  };
}

/** The machines of a list, by name of the node. */
function listedMachines(shutDownByName: ReadonlyMap<string, boolean>): Machines {
  return {
    async find({ metadata }: Node) {
      const isShutDown = shutDownByName.get(metadata?.name ?? '');
      return isShutDown === undefined ? undefined : { isShutDown };
    },
  };
}

/** The definition of the service proxy, for a process of its own and for `orch-components`. */
import type { ComponentDefinition } from '@orch/component';
import { ProxyProcessOptions } from './proxy-process-options.js';
import { startProxy } from './start-proxy.js';

export const proxy: ComponentDefinition<ProxyProcessOptions> = {
  program: 'orch-proxy',
  component: 'proxy',
  description: 'Forwards the addresses of services to their endpoints.',
  optionsClass: ProxyProcessOptions,
  start: startProxy,
};

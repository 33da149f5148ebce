/** Entry of the service proxy process. */
import { runComponent } from '@orch/component';
import { ProxyProcessOptions } from './proxy-process-options.js';
import { startProxy } from './start-proxy.js';

await runComponent({
  program: 'orch-proxy',
  component: 'proxy',
  description: 'Forwards the addresses of services to their endpoints.',
  optionsClass: ProxyProcessOptions,
  start: startProxy,
});

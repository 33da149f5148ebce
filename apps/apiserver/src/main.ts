/** Entry of the API server process. */
import { runComponent } from '@orch/component';
import { ApiServerOptions } from './options/api-server-options.js';
import { startApiServer } from './start-api-server.js';

await runComponent({
  program: 'orch-apiserver',
  component: 'apiserver',
  description: 'Serves the API of the cluster and stores its objects.',
  optionsClass: ApiServerOptions,
  start: startApiServer,
});

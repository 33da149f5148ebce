/** Entry of the node agent process. */
import { runComponent } from '@orch/component';
import { NodeAgentProcessOptions } from './node-agent-process-options.js';
import { startNodeAgent } from './start-node-agent.js';

await runComponent({
  program: 'orch-node-agent',
  component: 'node-agent',
  description: 'Runs the pods of one node.',
  optionsClass: NodeAgentProcessOptions,
  start: startNodeAgent,
});

/** Entry of the controller manager process. */
import { runComponent } from '@orch/component';
import { ControllerManagerOptions } from './controller-manager-options.js';
import { startControllerManager } from './start-controller-manager.js';

await runComponent({
  program: 'orch-controller-manager',
  component: 'controller-manager',
  description: 'Runs the control loops that make the cluster what its objects say.',
  optionsClass: ControllerManagerOptions,
  start: startControllerManager,
});

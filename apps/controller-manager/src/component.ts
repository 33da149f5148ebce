/** The definition of the controller manager, for a process of its own and for `orch-components`. */
import type { ComponentDefinition } from '@orch/component';
import { ControllerManagerOptions } from './controller-manager-options.js';
import { startControllerManager } from './start-controller-manager.js';

export const controllerManager: ComponentDefinition<ControllerManagerOptions> = {
  program: 'orch-controller-manager',
  component: 'controller-manager',
  description: 'Runs the control loops that make the cluster what its objects say.',
  optionsClass: ControllerManagerOptions,
  start: startControllerManager,
};

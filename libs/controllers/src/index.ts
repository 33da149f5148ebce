/** The control loops of the cluster, and the manager that runs them. */
export { ControllerManager, type ControllerManagerParts } from './manager/controller-manager.js';
export { ControllersOptions } from './manager/options.js';

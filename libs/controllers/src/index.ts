/** The control loops of the cluster, and the manager that runs them. */

export { ControllersOptions } from './common/options.js';
export { AccountOptions } from './manager/account-options.js';
export {
  ControllerManager,
  type ControllerManagerDependencies,
} from './manager/controller-manager.js';

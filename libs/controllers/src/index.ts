export type { Controller, ControllerContext } from './manager/controller.js';
export { ControllerManager, type ControllerManagerParts } from './manager/controller-manager.js';
export { ControllersOptions, isControllerEnabled } from './manager/options.js';
export { controllerMakers } from './manager/registry.js';

/** Loads the components that a command line names, and no others. */
import { componentPart } from '@orch/component';
import type { Loader } from './component-sections.js';

export const loaders: Readonly<Record<string, Loader>> = {
  'controller-manager': async (name, argv) => {
    const { controllerManager } = await import('../../controller-manager/src/component.js');
    return componentPart(name, controllerManager, argv);
  },
  scheduler: async (name, argv) => {
    const { scheduler } = await import('../../scheduler/src/component.js');
    return componentPart(name, scheduler, argv);
  },
  'node-agent': async (name, argv) => {
    const { nodeAgent } = await import('../../node-agent/src/component.js');
    return componentPart(name, nodeAgent, argv);
  },
  proxy: async (name, argv) => {
    const { proxy } = await import('../../proxy/src/component.js');
    return componentPart(name, proxy, argv);
  },
};

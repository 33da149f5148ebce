export { NodeAgent, type NodeAgentParts, nodeNameOf } from './node-agent.js';
export {
  type AuthorizationMode,
  authorizationModes,
  NodeAgentOptions,
} from './node-agent-options.js';
export * from './runtimes/container-runtime.js';
export {
  type IsolationMode,
  type IsolationSetting,
  isolationSettings,
} from './runtimes/process/isolation.js';
export { ProcessRuntime, type ProcessRuntimeOptions } from './runtimes/process/process-runtime.js';

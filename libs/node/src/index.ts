/** The agent of one node: runs the pods that are assigned to it. */
export { NodeAgent, type NodeAgentParts, nodeNameOf } from './node-agent.js';
export { NodeAgentOptions } from './node-agent-options.js';
export { ProcessRuntime, type ProcessRuntimeOptions } from './runtimes/process/process-runtime.js';

export * from './runtimes/container-runtime.js';
export {
  type IsolationMode,
  type IsolationSetting,
  isolationSettings,
} from './runtimes/process/isolation.js';
export { ProcessRuntime, type ProcessRuntimeOptions } from './runtimes/process/process-runtime.js';

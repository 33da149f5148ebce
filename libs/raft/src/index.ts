/** The replicated log: what is proposed comes back committed, in order, once it is on disk. */
export { crc32c } from './crc32c.js';
export { Deadlines, type Waiting } from './deadlines.js';
export { COMMAND_BYTES_MAX } from './limits.js';
export { LocalLog, type LocalLogOptions } from './local/local-log.js';
export type { LogObserver } from './log-observer.js';
export * from './replicated-log.js';
export {
  type Database,
  type DatabaseOptions,
  type DirectoryFormat,
  openDatabase,
} from './storage/directory.js';
export { ManualClock } from './testing/manual-clock.js';
export { MemoryDisk, MemoryLog } from './testing/memory-log.js';

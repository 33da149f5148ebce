/**
 * The commands of `orchctl`. Imports nothing that is slow to load, because every start of the
 * program loads this file.
 */

export { FlagCommand } from './command-line/flag-command.js';
export type { GlobalOptions } from './command-line/global-options.js';
export { type Io, processIo } from './command-line/io.js';
export { repeated } from './command-line/repeated.js';
export { type CommandEntry, commands } from './commands/commands.js';
export { type CommandContext, CommandRun, type Configure } from './session/command-context.js';
export { type ClusterCommand, runClusterCommand } from './up/run.js';

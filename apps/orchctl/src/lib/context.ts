/** What every command gets: the global flags, the streams, and the way to the server. */
import type { Command } from 'commander';
import type { GlobalOptions } from './global-options.js';
import type { Io } from './io.js';
import type { Session } from './session.js';

export interface CommandContext {
  readonly io: Io;
  readonly globals: GlobalOptions;
  /** Opened at first use, closed by the owner. */
  session(): Promise<Session>;
}

/** What a command file exports: adds arguments, options and the action to its command. */
export type Configure = (command: Command, context: CommandContext) => void;

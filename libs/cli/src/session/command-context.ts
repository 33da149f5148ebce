/** The command context: the global flags, the streams, and the session with the server. */
import type { Command } from 'commander';
import type { GlobalOptions } from '../command-line/global-options.js';
import type { Io } from '../command-line/io.js';
import type { Session } from './session.js';

export interface CommandContext {
  readonly io: Io;
  readonly globals: GlobalOptions;
  /** Opened at first use, closed by the owner of the context. */
  session(): Promise<Session>;
}

/** Adds arguments, options and the action to a command. Every command file exports one. */
export type Configure = (command: Command, context: CommandContext) => void;

/** The context of one run. Loads the client library only for a command that opens a session. */
export class CommandRun implements CommandContext {
  private opened: Promise<Session> | undefined;

  /** `readGlobals` is called when a command needs them: after the command line is parsed. */
  constructor(
    readonly io: Io,
    private readonly readGlobals: () => GlobalOptions,
  ) {}

  get globals(): GlobalOptions {
    return this.readGlobals();
  }

  session(): Promise<Session> {
    this.opened ??= import('./session.js').then(({ openSession }) => openSession(this.globals));
    return this.opened;
  }

  /** Prints the line for an error and returns the exit code. */
  async report(error: unknown): Promise<number> {
    const { errorLine, exitCodeOf } = await import('../command-line/errors.js');
    this.io.err(errorLine(error));
    return exitCodeOf(error);
  }

  /** Closes the session if one is open. A failure to open it has already been reported. */
  async close(): Promise<void> {
    const session = await this.opened?.catch(() => undefined);
    await session?.client.close();
  }
}

/**
 * Errors of commands, each with one line of text and an exit code: 0 done, 1 failed, 2 wrong
 * command line, 124 a wait timed out.
 */
import { ApiError, TransportError } from '@orch/client';
import { errorMessage, KubeconfigError } from '@orch/component';
import { CommanderError } from 'commander';

export const exitCodes = { ok: 0, failed: 1, usage: 2, timeout: 124 } as const;

/** A failure with a message for the user. The line has the prefix `error: `. */
export class CliError extends Error {
  override readonly name: string = 'CliError';

  constructor(
    message: string,
    readonly exitCode: number = exitCodes.failed,
  ) {
    super(message);
  }
}

/** A remote command ended with this exit code. `orchctl` exits with the same one. */
export class RemoteExit extends CliError {
  override readonly name = 'RemoteExit';

  constructor(exitCode: number) {
    super(`command terminated with exit code ${exitCode}`, exitCode);
  }
}

/** The command line is wrong. */
export class UsageError extends CliError {
  override readonly name = 'UsageError';

  constructor(message: string) {
    super(message, exitCodes.usage);
  }
}

/** A wait timed out. */
export class TimeoutError extends CliError {
  override readonly name = 'TimeoutError';

  constructor(message: string) {
    super(message, exitCodes.timeout);
  }
}

/** Some of several objects failed. Their errors have already been printed. */
export class PartialFailure extends CliError {
  override readonly name = 'PartialFailure';

  constructor() {
    super('');
  }
}

/** The line for standard error. Empty if the error has already been printed. */
export function errorLine(error: unknown): string {
  if (error instanceof PartialFailure || error instanceof CommanderError) return '';
  if (error instanceof ApiError) {
    const reason = error.reason && error.reason !== 'Unknown' ? ` (${error.reason})` : '';
    return `Error from server${reason}: ${error.message}\n`;
  }
  if (error instanceof TransportError) {
    return `Unable to connect to the server: ${error.message}\n`;
  }
  if (error instanceof CliError || error instanceof KubeconfigError) {
    return `error: ${error.message}\n`;
  }
  return `error: ${errorMessage(error)}\n`;
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  return error instanceof CliError ? error.exitCode : exitCodes.failed;
}

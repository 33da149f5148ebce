/**
 * What can go wrong, as one line and an exit code: 0 done, 1 failed, 2 wrong command line, 124 a wait
 * ran into its timeout.
 */
import { ApiError, TransportError } from '@orch/client';
import { KubeconfigError } from '@orch/component';
import { CommanderError } from 'commander';

export const exitCodes = { ok: 0, failed: 1, usage: 2, timeout: 124 } as const;

/** A failure in words for the user; the line gets `error: ` in front. */
export class CliError extends Error {
  override readonly name: string = 'CliError';

  constructor(
    message: string,
    readonly exitCode: number = exitCodes.failed,
  ) {
    super(message);
  }
}

/** A command that was run elsewhere ended with this exit code, which becomes ours. */
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

/** What was waited for did not come. */
export class TimeoutError extends CliError {
  override readonly name = 'TimeoutError';

  constructor(message: string) {
    super(message, exitCodes.timeout);
  }
}

/** Some of several objects failed; their errors have been shown already. */
export class PartialFailure extends CliError {
  override readonly name = 'PartialFailure';

  constructor() {
    super('');
  }
}

/** The one line to show on standard error; empty when everything has been said. */
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
  return `error: ${error instanceof Error ? error.message : String(error)}\n`;
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  return error instanceof CliError ? error.exitCode : exitCodes.failed;
}

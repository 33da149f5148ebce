/** The interface between remote command transports and the command in a container. */
import type { Readable, Writable } from 'node:stream';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** The streams that a client requests. */
export interface CommandRequest {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface CommandStreams {
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Sets the listener for terminal sizes, and calls it immediately with the last size, if any. */
  onResize(listener: (size: TerminalSize) => void): void;
  /** Aborted when the client has disconnected or does not respond. */
  readonly closed: AbortSignal;
  /**
   * Ends the streams and sends the outcome. Resolves when the client has received it or has
   * disconnected.
   */
  finish(status: CommandStatus): Promise<void>;
}

/** The outcome, in the format of an API Status. */
export interface CommandStatus {
  readonly metadata: object;
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: { readonly causes: readonly { reason: string; message: string }[] };
}

export const commandSucceeded: CommandStatus = { metadata: {}, status: 'Success' };

/** Returns the outcome of a command that has exited. */
export function exitStatus(exitCode: number): CommandStatus {
  if (exitCode === 0) return commandSucceeded;
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

/** Returns the outcome of a command that could not be run, or whose exit code is unknown. */
export function commandFailed(message: string): CommandStatus {
  return {
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ reason: '', message }] },
    code: 500,
  };
}

/** Encodes the outcome for the error channel; empty for success before version 4. */
export function encodeStatus(status: CommandStatus, version: number): Buffer {
  if (version >= 4) return Buffer.from(JSON.stringify(status));
  return Buffer.from(status.status === 'Success' ? '' : (status.message ?? ''));
}

/** Parses a terminal size; returns undefined if it is invalid. */
export function parseTerminalSize(text: string): TerminalSize | undefined {
  let value: { Width?: unknown; Height?: unknown } | null;
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    // Invalid JSON is ignored, because it need not end the session.
    return undefined;
  }
  const { Width: columns, Height: rows } = value ?? {};
  return isSize(columns) && isSize(rows) ? { columns, rows } : undefined;
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 0xffff;
}

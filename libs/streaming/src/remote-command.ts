/** What a command in a container and its client exchange, however it travels. */
import type { Readable, Writable } from 'node:stream';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Which streams a client has asked for. */
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
  /** Called with each size of the client's terminal; with the last one at once if it has come already. */
  onResize(listener: (size: TerminalSize) => void): void;
  /** Aborted when the client has gone, or did nothing for too long. */
  readonly gone: AbortSignal;
  /** Ends the streams and tells the outcome. Resolves when the client has it or is gone. */
  finish(status: CommandStatus): Promise<void>;
}

/** The outcome, in the shape of the interface's Status. */
export interface CommandStatus {
  readonly metadata: object;
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: { readonly causes: readonly { reason: string; message: string }[] };
}

export const commandSucceeded: CommandStatus = { metadata: {}, status: 'Success' };

/** The command ran and said how it ended. */
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

/** The command could not be run, or its end is not known. */
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

/** What goes out on the error channel: nothing for success before version 4. */
export function encodeStatus(status: CommandStatus, version: number): Buffer {
  if (version >= 4) return Buffer.from(JSON.stringify(status));
  return Buffer.from(status.status === 'Success' ? '' : (status.message ?? ''));
}

/** Undefined for what is no size. */
export function parseTerminalSize(text: string): TerminalSize | undefined {
  let value: { Width?: unknown; Height?: unknown } | null;
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    return undefined; // not JSON: a client's mistake, and none that should end its session
  }
  const { Width: columns, Height: rows } = value ?? {};
  return isSize(columns) && isSize(rows) ? { columns, rows } : undefined;
}

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= 0xffff;
}

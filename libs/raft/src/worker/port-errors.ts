/** Encodes errors for the port: structured cloning would lose class and code. */
import {
  LogError,
  type LogErrorCode,
  MembershipError,
  type MembershipFailure,
} from '../replicated-log.js';
import { TransportError, type TransportErrorCode } from '../transport/transport-error.js';
import type { PortError } from './protocol.js';

export function toPortError(error: unknown): PortError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message, stack } = error;
  const known =
    error instanceof LogError ||
    error instanceof MembershipError ||
    error instanceof TransportError;
  return { name, message, ...(known && { code: error.code }), ...(stack && { stack }) };
}

export function fromPortError({ name, code, message, stack }: PortError): Error {
  let error: Error;
  if (name === 'LogError') error = new LogError(code as LogErrorCode, message);
  else if (name === 'MembershipError')
    error = new MembershipError(code as MembershipFailure, message);
  else if (name === 'TransportError')
    error = new TransportError(code as TransportErrorCode, message);
  else {
    error = new Error(message);
    error.name = name;
  }
  // The stack of the other thread, where the error was thrown.
  if (stack !== undefined) error.stack = stack;
  return error;
}

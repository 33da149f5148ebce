/** The interface between port-forward transports and the connection to the pod. */
import type { Duplex, Writable } from 'node:stream';

/** One connection that a client has accepted. */
export interface ForwardedConnection {
  /** The port of the pod. */
  readonly port: number;
  readonly data: Duplex;
  /** Receives the error message if the connection fails. */
  readonly error: Writable;
}

/** Connects it to the pod. Rejects with an error whose message is sent to the client. */
export type Forward = (connection: ForwardedConnection, signal: AbortSignal) => Promise<void>;

/** Parses a decimal port number; returns undefined if it is invalid. */
export function parsePort(text: string | undefined | null): number | undefined {
  if (!text || !/^\d{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port >= 1 && port <= 65_535 ? port : undefined;
}

/** What a client of port-forward and the pod's side exchange, however it travels. */
import type { Duplex, Writable } from 'node:stream';

/** One connection that the client has accepted. */
export interface ForwardedConnection {
  /** Port of the pod. */
  readonly port: number;
  readonly data: Duplex;
  /** Takes the reason why the connection could not be made or kept, as text. */
  readonly error: Writable;
}

/** Joins it to the pod. Rejects with the reason, which the client is told. */
export type Forward = (connection: ForwardedConnection, signal: AbortSignal) => Promise<void>;

/** A port number in decimal. Undefined for anything else. */
export function parsePort(text: string | undefined | null): number | undefined {
  if (!text || !/^\d{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port >= 1 && port <= 65_535 ? port : undefined;
}

/** The settings of one client of the load: its writes and its reads. */
import type { LoadTarget } from './load-target.js';

export interface LoadClientOptions {
  readonly id: string;
  readonly targets: () => readonly LoadTarget[];
  /** The only server it uses, so that a server that hangs delays its own clients only. */
  readonly home?: string;
  readonly thinkMs: number;
  /** Timeout of a call. */
  readonly timeoutMs: number;
  readonly isHistoryShort: boolean;
}

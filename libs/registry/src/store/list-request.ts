/** What a list or a watch selects and at which version, read from its parameters. */
import type { ReadConsistency, Revision } from '@orch/store';
import type { ContinueToken } from './continue-token.js';

export interface ListRequest {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly consistency: ReadConsistency;
  /** 0: everything. */
  readonly limit: number;
  readonly continueFrom: ContinueToken | undefined;
  /** 0: the server's own limit. */
  readonly timeoutSeconds: number;
}

export interface WatchRequest {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  /** Undefined: begin with the state at a quorum read; 0: with the state in memory. */
  readonly resourceVersion: Revision | undefined;
  readonly allowBookmarks: boolean;
  readonly timeoutSeconds: number;
}

/** The audit record of one request, as the code that sends responses sees it. */
import type { Status } from '@orch/apimachinery';
import type { Decision, User } from '@orch/security';

/** A status without a code reports success. */
export type AnyStatus = Omit<Status, 'code' | 'metadata'> & {
  readonly code?: number;
  readonly metadata: { readonly continue?: string };
};

export interface AuditSink {
  /** Whether the response body is recorded, so that a streamed one has to be collected. */
  readonly recordsResponse: boolean;
  /** The request acts as another user. */
  impersonated(user: User): void;
  authorized(decision: Decision): void;
  /** Adds an annotation to the event if its level is at least `level`. */
  annotate(key: string, value: string, level: 'Metadata' | 'Request'): void;
  bodyRead(body: Buffer): void;
  /** The response has a body. */
  responded(body: Buffer, mediaType: string): void;
  respondedStatus(status: AnyStatus): void;
  /** The response head is written. */
  started(statusCode: number): void;
  /** An unexpected error occurred. */
  panicked(): void;
  /** The response has ended. */
  completed(statusCode: number): void;
}

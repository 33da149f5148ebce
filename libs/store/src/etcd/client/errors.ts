/**
 * Classifies failed calls to etcd. A failed write certainly had no effect only if etcd refused it
 * before the proposal or while it was applied. Matches the messages of etcd's v3 interface, which
 * has no finer codes.
 */
import { type ServiceError, status } from '@grpc/grpc-js';
import { StoreError } from '../../versioned-store.js';

/** A call to one server failed. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  constructor(
    readonly code: number,
    readonly details: string,
    readonly address: string,
  ) {
    super(`etcd at ${address}: ${details}`);
  }
}

export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'details' in error && 'metadata' in error && 'code' in error;
}

const notTaken = /no leader|No connection established|not supported for learner/;

/** A server refused the write before it was proposed: another server may accept it. */
export function certainlyNotTaken({ code, details }: EtcdError): boolean {
  if (code === status.UNAVAILABLE) return notTaken.test(details);
  return code === status.UNKNOWN && details.includes('raft proposal dropped');
}

/** The lease ended before the put, so that nothing was put. */
export function isLeaseGone({ code, details }: EtcdError): boolean {
  return code === status.NOT_FOUND && details.includes('requested lease not found');
}

/** Converts an error whose cause is certain to a StoreError; undefined for other errors. */
export function asRefusal(error: EtcdError): StoreError | undefined {
  const { code, details, message } = error;
  switch (code) {
    case status.OUT_OF_RANGE:
      if (details.includes('compacted')) return new StoreError('Compacted', message);
      if (details.includes('future')) return new StoreError('FutureRevision', message);
      return undefined;
    case status.INVALID_ARGUMENT:
      return /too large|too many operations/.test(details)
        ? new StoreError(
            'TooLarge',
            `${message}; see --max-request-bytes and --max-txn-ops of etcd`,
          )
        : undefined;
    case status.RESOURCE_EXHAUSTED:
      if (details.includes('space exceeded')) {
        return new StoreError('NoSpace', `${message}: see --quota-backend-bytes of etcd`);
      }
      if (details.includes('too many requests')) return new StoreError('Overloaded', message);
      return details.includes('larger than')
        ? new StoreError('TooLarge', `${message}; see --max-request-bytes of etcd`)
        : undefined;
    case status.PERMISSION_DENIED:
    case status.UNAUTHENTICATED:
      return new StoreError('Unavailable', message);
    default:
      return undefined;
  }
}

/**
 * How many requests are being worked on, those that read and those that write counted apart. Above a
 * maximum a request is refused at once and told to come back; watches and logs do not count.
 */
import { tooManyRequests } from '@orch/apimachinery';

export type RequestKind = 'readOnly' | 'mutating';

export interface InFlightLimits {
  /** 0: no limit. */
  readonly readOnly: number;
  readonly mutating: number;
}

const retryAfterSeconds = 1;
const readVerbs = new Set(['get', 'list', 'watch']);

export function requestKind(verb: string): RequestKind {
  return readVerbs.has(verb) ? 'readOnly' : 'mutating';
}

export class InFlight {
  private readonly counts: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };

  constructor(private readonly limits: InFlightLimits) {}

  count(kind: RequestKind): number {
    return this.counts[kind];
  }

  isFull(kind: RequestKind): boolean {
    const limit = this.limits[kind];
    return limit > 0 && this.counts[kind] >= limit;
  }

  /** Throws 429 above the limit; otherwise the caller must `leave`. */
  enter(kind: RequestKind): void {
    if (this.isFull(kind)) {
      throw tooManyRequests('Too many requests, please try again later.', retryAfterSeconds);
    }
    this.counts[kind] += 1;
  }

  leave(kind: RequestKind): void {
    this.counts[kind] -= 1;
  }
}

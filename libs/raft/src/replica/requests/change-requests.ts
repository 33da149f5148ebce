/**
 * Operators' requests to the core that wait for their result: changes of members, transfers of the
 * lead.
 */
import type { Clock } from '@orch/component';
import type { MembershipErrorCode } from '../../core/types.js';
import { Deadlines, type Waiting } from '../../deadlines.js';
import { changesPendingMax } from '../../limits.js';
import { MembershipError } from '../../replicated-log.js';

interface Request extends Waiting {
  resolve(): void;
  reject(error: MembershipError): void;
}

interface Result {
  readonly requestId: number;
  readonly error?: {
    readonly code: MembershipErrorCode | 'NotVoter' | 'TargetLags' | 'TimedOut';
    readonly message: string;
  };
}

export class ChangeRequests {
  private readonly requests = new Map<number, Request>();
  private readonly deadlines: Deadlines<Request>;
  private lastId = 0;
  private stopped = false;

  constructor(clock: Clock) {
    this.deadlines = new Deadlines(clock);
  }

  /** Calls `begin` with the request id that `settle` gets with the result. */
  ask(what: string, deadlineMs: number, begin: (requestId: number) => void): Promise<void> {
    if (this.stopped) return Promise.reject(new MembershipError('Stopped', 'the log is stopped'));
    if (this.requests.size >= changesPendingMax) {
      return Promise.reject(
        new MembershipError('ChangePending', `${this.requests.size} requests are in progress`),
      );
    }
    return new Promise((resolve, reject) => {
      this.lastId += 1;
      const requestId = this.lastId;
      const expired = () => {
        this.requests.delete(requestId);
        reject(new MembershipError('TimedOut', `${what} was not done in time; it may still be`));
      };
      const request = { deadlineMs, resolve, reject, expired };
      this.requests.set(requestId, request);
      this.deadlines.add(request);
      begin(requestId);
    });
  }

  settle({ requestId, error }: Result): void {
    const request = this.requests.get(requestId);
    if (!request) return;
    this.requests.delete(requestId);
    this.deadlines.remove(request);
    if (error) request.reject(new MembershipError(error.code, error.message));
    else request.resolve();
  }

  stop(): void {
    this.stopped = true;
    this.requests.clear();
    for (const request of this.deadlines.takeAll()) {
      request.reject(new MembershipError('Stopped', 'the log is stopping; it may still be done'));
    }
  }
}

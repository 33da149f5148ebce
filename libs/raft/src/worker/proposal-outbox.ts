/**
 * Collects proposals for the replica's thread: those of one turn are sent together at its end, and
 * so are the refusals of the others. Bounded by count and bytes.
 */

import { commandBytesMax } from '../core/limits.js';
import { pendingBytesMax, pendingEntriesMax } from '../limits.js';
import { LogError, type LogErrorCode } from '../replicated-log.js';
import { type Proposal, packProposals } from './packing.js';

export interface ProposalSink {
  /** Whether refusals can be reported; they wait until then. */
  listens(): boolean;
  /** Why nothing can be taken; undefined: it can. */
  closed(): string | undefined;
  send(packed: ArrayBuffer): void;
  refused(id: number, error: LogError): void;
}

interface Refusal {
  readonly code: LogErrorCode;
  readonly message: string;
}

export class ProposalOutbox {
  private proposals: Proposal[] = [];
  private bytes = 0;
  private refused: (Refusal & { readonly id: number })[] = [];
  private flushing = false;

  constructor(private readonly sink: ProposalSink) {}

  add(id: number, command: Buffer): void {
    const refusal = this.refusal(command);
    if (refusal) this.refused.push({ id, ...refusal });
    else {
      this.proposals.push({ id, command });
      this.bytes += command.length;
    }
    if (this.flushing) return;
    this.flushing = true;
    setImmediate(() => this.flush());
  }

  private flush(): void {
    this.flushing = false;
    if (!this.sink.listens()) return;
    const proposals = this.proposals;
    this.proposals = [];
    this.bytes = 0;
    if (proposals.length > 0 && this.sink.closed() === undefined) {
      this.sink.send(packProposals(proposals));
    }
    for (const { id, code, message } of this.refused.splice(0)) {
      this.sink.refused(id, new LogError(code, message));
    }
  }

  private refusal(command: Buffer): Refusal | undefined {
    const closed = this.sink.closed();
    if (closed !== undefined) return { code: 'Stopped', message: closed };
    if (command.length > commandBytesMax) {
      return { code: 'TooLarge', message: `a command may have at most ${commandBytesMax} bytes` };
    }
    const isFull =
      this.proposals.length >= pendingEntriesMax || this.bytes + command.length > pendingBytesMax;
    return isFull ? { code: 'QueueFull', message: 'too many proposals at a time' } : undefined;
  }
}

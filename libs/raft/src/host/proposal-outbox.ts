/**
 * Proposals on their way to the replica's thread: those of one turn go together at its end, and so do the
 * refusals of those that were not taken. Bounded by their number and bytes.
 */
import { COMMAND_BYTES_MAX, PENDING_BYTES_MAX, PENDING_ENTRIES_MAX } from '../limits.js';
import { LogError, type LogErrorCode } from '../replicated-log.js';
import { type Proposal, packProposals } from './packing.js';

export interface ProposalSink {
  /** There is somebody to be told of refusals; they are kept until then. */
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
  #proposals: Proposal[] = [];
  #bytes = 0;
  #refused: (Refusal & { readonly id: number })[] = [];
  #flushing = false;

  constructor(private readonly sink: ProposalSink) {}

  add(id: number, command: Buffer): void {
    const refusal = this.#refusal(command);
    if (refusal) this.#refused.push({ id, ...refusal });
    else {
      this.#proposals.push({ id, command });
      this.#bytes += command.length;
    }
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#flushing = false;
    if (!this.sink.listens()) return;
    const proposals = this.#proposals;
    this.#proposals = [];
    this.#bytes = 0;
    if (proposals.length > 0 && this.sink.closed() === undefined) {
      this.sink.send(packProposals(proposals));
    }
    for (const { id, code, message } of this.#refused.splice(0)) {
      this.sink.refused(id, new LogError(code, message));
    }
  }

  #refusal(command: Buffer): Refusal | undefined {
    const closed = this.sink.closed();
    if (closed !== undefined) return { code: 'Stopped', message: closed };
    if (command.length > COMMAND_BYTES_MAX) {
      return { code: 'TooLarge', message: `a command may have at most ${COMMAND_BYTES_MAX} bytes` };
    }
    const isFull =
      this.#proposals.length >= PENDING_ENTRIES_MAX ||
      this.#bytes + command.length > PENDING_BYTES_MAX;
    return isFull ? { code: 'QueueFull', message: 'too many proposals at a time' } : undefined;
  }
}

/**
 * Tries to get commands into the log, and which of them may have got there. A try counts as open
 * until the log says that it was certainly not appended; so a command without open tries is not in
 * the log, however often it was tried.
 */
import type { ReplicatedLog } from '@orch/raft';
import { ATTEMPTS_MAX } from '../limits.js';

export interface Attempted {
  /** The same in every try. */
  readonly bytes: Buffer;
  /** Tries that may have reached the log. */
  readonly open: number[];
  /** Next try, on the clock's `monotonicMs`, if nothing is known by then. */
  retryAtMs: number;
}

export class Attempts<Command extends Attempted> {
  #lastId = 0;
  readonly #open = new Map<number, Command>();

  constructor(private readonly log: ReplicatedLog) {}

  /** Does nothing when the command has been tried too often already. */
  send(command: Command, retryAtMs: number): void {
    command.retryAtMs = retryAtMs;
    if (command.open.length >= ATTEMPTS_MAX) return;
    this.#lastId += 1;
    command.open.push(this.#lastId);
    this.#open.set(this.#lastId, command);
    this.log.propose(this.#lastId, command.bytes);
  }

  /** Closes the try; undefined when nobody asks for it any more. */
  refused(id: number): Command | undefined {
    const command = this.#open.get(id);
    if (!command) return undefined;
    this.#open.delete(id);
    command.open.splice(command.open.indexOf(id), 1);
    return command;
  }

  /** Its outcome is known, or nobody asks for it any more. */
  forget(command: Command): void {
    for (const id of command.open.splice(0)) this.#open.delete(id);
  }
}

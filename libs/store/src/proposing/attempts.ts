/**
 * Attempts to append commands to the log, and which of them may have succeeded. An attempt is open
 * until the log reports that it was certainly not appended, so that a command without open attempts
 * is not in the log.
 */
import type { ReplicatedLog } from '@orch/raft';
import { attemptsMax } from '../limits.js';

export interface Attempted {
  /** The same in every attempt. */
  readonly bytes: Buffer;
  /** Attempts that may have reached the log. */
  readonly open: number[];
  /** Time of the next attempt, on the clock's `monotonicMs`, if there is no outcome by then. */
  retryAtMs: number;
}

export class Attempts<Command extends Attempted> {
  private lastId = 0;
  private readonly open = new Map<number, Command>();

  constructor(private readonly log: ReplicatedLog) {}

  /** Does nothing if the command has `attemptsMax` open attempts. */
  send(command: Command, retryAtMs: number): void {
    command.retryAtMs = retryAtMs;
    if (command.open.length >= attemptsMax) return;
    this.lastId += 1;
    command.open.push(this.lastId);
    this.open.set(this.lastId, command);
    this.log.propose(this.lastId, command.bytes);
  }

  /** Closes the attempt; returns undefined if its command was forgotten. */
  refused(id: number): Command | undefined {
    const command = this.open.get(id);
    if (!command) return undefined;
    this.open.delete(id);
    command.open.splice(command.open.indexOf(id), 1);
    return command;
  }

  /** Closes all attempts of a command that has an outcome or no caller. */
  forget(command: Command): void {
    for (const id of command.open.splice(0)) this.open.delete(id);
  }
}

/**
 * Proposals of one turn, on their way into the core together, within bounds. Refusals are told in the next
 * turn, never from within `propose`.
 *
 * The core numbers them for refusals that come over the network: an offset drawn at start keeps a refusal
 * of what the process before has proposed from being taken for one of this process.
 */
import type { ForwardedCommand, RefusalCode } from '../core/types.js';
import { COMMAND_BYTES_MAX, PENDING_BYTES_MAX, PENDING_ENTRIES_MAX } from '../limits.js';
import { LogError, type LogErrorCode, type LogHandlers } from '../replicated-log.js';

const IDS_OF_A_LIFE = 2 ** 36;

export class ProposalBuffer {
  readonly #idOffset: number;
  #commands: ForwardedCommand[] = [];
  #byteCount = 0;
  #refused: { readonly ids: number[]; readonly code: LogErrorCode }[] = [];

  constructor(random: () => number) {
    this.#idOffset = Math.floor(random() * 2 ** 16) * IDS_OF_A_LIFE;
  }

  get entryCount(): number {
    return this.#commands.length;
  }

  add(id: number, data: Buffer): void {
    const isFull =
      this.#commands.length >= PENDING_ENTRIES_MAX ||
      this.#byteCount + data.length > PENDING_BYTES_MAX;
    if (data.length > COMMAND_BYTES_MAX) this.refuse(id, 'TooLarge');
    else if (isFull) this.refuse(id, 'QueueFull');
    else {
      this.#byteCount += data.length;
      this.#commands.push({ id: id + this.#idOffset, data });
    }
  }

  refuse(id: number, code: LogErrorCode): void {
    const last = this.#refused.at(-1);
    if (last?.code === code) last.ids.push(id);
    else this.#refused.push({ ids: [id], code });
  }

  refuseAll(code: LogErrorCode): void {
    for (const { id } of this.takeCommands()) this.refuse(id - this.#idOffset, code);
  }

  refusedByCore(ids: readonly number[], code: RefusalCode): void {
    const mapped = code === 'Transferring' ? 'NoLeader' : code;
    for (const id of ids) {
      const own = id - this.#idOffset;
      if (own >= 0 && own < IDS_OF_A_LIFE) this.refuse(own, mapped);
    }
  }

  takeCommands(): ForwardedCommand[] {
    const commands = this.#commands;
    this.#commands = [];
    this.#byteCount = 0;
    return commands;
  }

  tellRefusals(handlers: Pick<LogHandlers, 'onRefused'>, reason: () => string | undefined): void {
    if (this.#refused.length === 0) return;
    for (const { ids, code } of this.#refused.splice(0)) {
      handlers.onRefused(ids, new LogError(code, messageOf(code, reason())));
    }
  }
}

function messageOf(code: LogErrorCode, reason: string | undefined): string {
  if (code === 'TooLarge') return `a command may have at most ${COMMAND_BYTES_MAX} bytes`;
  if (code === 'QueueFull') return 'too many proposals wait to be committed';
  return reason ?? 'the leader is changing';
}

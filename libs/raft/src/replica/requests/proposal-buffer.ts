/**
 * Collects the proposals of one turn for the core, within bounds. Refusals are reported in the next
 * turn, never from within `propose`. The core numbers proposals for refusals that arrive over the
 * network: an offset drawn at start keeps a refusal for the previous process from matching a
 * proposal of this one.
 */

import { commandBytesMax } from '../../core/limits.js';
import type { ForwardedCommand, RefusalCode } from '../../core/messages.js';
import { pendingBytesMax, pendingEntriesMax } from '../../limits.js';
import { LogError, type LogErrorCode, type LogHandlers } from '../../replicated-log.js';

const idsPerProcess = 2 ** 36;

export class ProposalBuffer {
  private readonly idOffset: number;
  private commands: ForwardedCommand[] = [];
  private byteCount = 0;
  private refused: { readonly ids: number[]; readonly code: LogErrorCode }[] = [];

  constructor(random: () => number) {
    this.idOffset = Math.floor(random() * 2 ** 16) * idsPerProcess;
  }

  get entryCount(): number {
    return this.commands.length;
  }

  add(id: number, data: Buffer): void {
    const isFull =
      this.commands.length >= pendingEntriesMax || this.byteCount + data.length > pendingBytesMax;
    if (data.length > commandBytesMax) this.refuse(id, 'TooLarge');
    else if (isFull) this.refuse(id, 'QueueFull');
    else {
      this.byteCount += data.length;
      this.commands.push({ id: id + this.idOffset, data });
    }
  }

  refuse(id: number, code: LogErrorCode): void {
    const last = this.refused.at(-1);
    if (last?.code === code) last.ids.push(id);
    else this.refused.push({ ids: [id], code });
  }

  refuseAll(code: LogErrorCode): void {
    for (const { id } of this.takeCommands()) this.refuse(id - this.idOffset, code);
  }

  onCoreRefusal(ids: readonly number[], code: RefusalCode): void {
    const mapped = code === 'Transferring' ? 'NoLeader' : code;
    for (const id of ids) {
      const own = id - this.idOffset;
      if (own >= 0 && own < idsPerProcess) this.refuse(own, mapped);
    }
  }

  takeCommands(): ForwardedCommand[] {
    const commands = this.commands;
    this.commands = [];
    this.byteCount = 0;
    return commands;
  }

  reportRefusals(handlers: Pick<LogHandlers, 'onRefused'>, reason: () => string | undefined): void {
    if (this.refused.length === 0) return;
    for (const { ids, code } of this.refused.splice(0)) {
      handlers.onRefused(ids, new LogError(code, messageOf(code, reason())));
    }
  }
}

function messageOf(code: LogErrorCode, reason: string | undefined): string {
  if (code === 'TooLarge') return `a command may have at most ${commandBytesMax} bytes`;
  if (code === 'QueueFull') return 'too many proposals wait to be committed';
  return reason ?? 'the leader is changing';
}

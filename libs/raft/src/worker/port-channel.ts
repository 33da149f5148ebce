/**
 * One end of the port between two threads: messages of a turn are sent together, and requests are
 * matched with their responses. Bounded by the number of pending requests; the sender bounds all
 * other messages.
 */

import { portRequestsMax } from '../limits.js';
import { LogError } from '../replicated-log.js';
import { fromPortError, toPortError } from './port-errors.js';
import type { RequestMessage, ResponseMessage } from './protocol.js';

/** A `MessagePort`, a `Worker` or what a worker has of its parent. */
export interface Port {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

export interface Answer {
  readonly value: unknown;
  readonly transfer?: ArrayBuffer;
}

export interface PortChannelDependencies<Received> {
  readonly port: Port;
  /** Calls `flush` when this turn is over. */
  readonly defer: (flush: () => void) => void;
  readonly onMessage: (message: Exclude<Received, RequestMessage | ResponseMessage>) => void;
  readonly onRequest: (method: string, argument: unknown) => Promise<Answer>;
}

interface Call {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export class PortChannel<Sent, Received extends { readonly kind: string }> {
  private readonly dependencies: PortChannelDependencies<Received>;
  private readonly calls = new Map<number, Call>();
  private lastCall = 0;
  private outgoing: (Sent | RequestMessage | ResponseMessage)[] = [];
  private transfer: ArrayBuffer[] = [];
  private closed: Error | undefined;

  constructor(parts: PortChannelDependencies<Received>) {
    this.dependencies = parts;
    parts.port.on('message', (messages) => this.receive(messages as readonly Received[]));
  }

  post(message: Sent, transfer?: ArrayBuffer): void {
    this.enqueue(message, transfer);
  }

  call(method: string, argument: unknown, transfer?: ArrayBuffer): Promise<unknown> {
    if (this.closed) return Promise.reject(this.closed);
    if (this.calls.size >= portRequestsMax) {
      return Promise.reject(
        new LogError('QueueFull', `${this.calls.size} requests wait for the replica`),
      );
    }
    return new Promise((resolve, reject) => {
      this.lastCall += 1;
      this.calls.set(this.lastCall, { resolve, reject });
      this.enqueue({ kind: 'request', id: this.lastCall, method, argument }, transfer);
    });
  }

  /** Sends the messages of this turn immediately. */
  flush(): void {
    const messages = this.outgoing;
    const transfer = this.transfer;
    if (messages.length === 0) return;
    this.outgoing = [];
    this.transfer = [];
    this.dependencies.port.postMessage(messages, transfer);
  }

  /** The other end is closed: rejects all pending requests. */
  close(error: Error): void {
    if (this.closed) return;
    this.closed = error;
    this.outgoing = [];
    this.transfer = [];
    for (const call of this.calls.values()) call.reject(error);
    this.calls.clear();
  }

  private enqueue(message: Sent | RequestMessage | ResponseMessage, transfer?: ArrayBuffer): void {
    if (this.closed) return;
    if (this.outgoing.length === 0) this.dependencies.defer(() => this.flush());
    this.outgoing.push(message);
    if (transfer) this.transfer.push(transfer);
  }

  private receive(messages: readonly Received[]): void {
    for (const message of messages) {
      if (this.closed) return;
      if (isRequest(message)) void this.answer(message);
      else if (isResponse(message)) this.settle(message);
      else {
        this.dependencies.onMessage(message as Exclude<Received, RequestMessage | ResponseMessage>);
      }
    }
  }

  private async answer({ id, method, argument }: RequestMessage): Promise<void> {
    try {
      const { value, transfer } = await this.dependencies.onRequest(method, argument);
      this.enqueue({ kind: 'response', id, value }, transfer);
    } catch (error) {
      this.enqueue({ kind: 'response', id, error: toPortError(error) });
    }
  }

  private settle({ id, value, error }: ResponseMessage): void {
    const call = this.calls.get(id);
    if (!call) return;
    this.calls.delete(id);
    if (error) call.reject(fromPortError(error));
    else call.resolve(value);
  }
}

function isRequest(message: { readonly kind: string }): message is RequestMessage {
  return message.kind === 'request';
}

function isResponse(message: { readonly kind: string }): message is ResponseMessage {
  return message.kind === 'response';
}

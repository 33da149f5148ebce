/**
 * One side of the way between two threads: messages of a turn go together, and requests are matched with
 * their answers. Bounded by the number of requests that wait; what is told without an answer is bounded by
 * who tells it.
 */

import { PORT_REQUESTS_MAX } from '../limits.js';
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

export interface ChannelParts<Received> {
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
  readonly #parts: ChannelParts<Received>;
  readonly #calls = new Map<number, Call>();
  #lastCall = 0;
  #outgoing: (Sent | RequestMessage | ResponseMessage)[] = [];
  #transfer: ArrayBuffer[] = [];
  #closed: Error | undefined;

  constructor(parts: ChannelParts<Received>) {
    this.#parts = parts;
    parts.port.on('message', (messages) => this.#receive(messages as readonly Received[]));
  }

  post(message: Sent, transfer?: ArrayBuffer): void {
    this.#enqueue(message, transfer);
  }

  call(method: string, argument: unknown, transfer?: ArrayBuffer): Promise<unknown> {
    if (this.#closed) return Promise.reject(this.#closed);
    if (this.#calls.size >= PORT_REQUESTS_MAX) {
      return Promise.reject(
        new LogError('QueueFull', `${this.#calls.size} requests wait for the replica`),
      );
    }
    return new Promise((resolve, reject) => {
      this.#lastCall += 1;
      this.#calls.set(this.#lastCall, { resolve, reject });
      this.#enqueue({ kind: 'request', id: this.#lastCall, method, argument }, transfer);
    });
  }

  /** Sends at once what waits for the end of the turn. */
  flush(): void {
    const messages = this.#outgoing;
    const transfer = this.#transfer;
    if (messages.length === 0) return;
    this.#outgoing = [];
    this.#transfer = [];
    this.#parts.port.postMessage(messages, transfer);
  }

  /** The other side is gone: all who wait are told so. */
  close(error: Error): void {
    if (this.#closed) return;
    this.#closed = error;
    this.#outgoing = [];
    this.#transfer = [];
    for (const call of this.#calls.values()) call.reject(error);
    this.#calls.clear();
  }

  #enqueue(message: Sent | RequestMessage | ResponseMessage, transfer?: ArrayBuffer): void {
    if (this.#closed) return;
    if (this.#outgoing.length === 0) this.#parts.defer(() => this.flush());
    this.#outgoing.push(message);
    if (transfer) this.#transfer.push(transfer);
  }

  #receive(messages: readonly Received[]): void {
    for (const message of messages) {
      if (this.#closed) return;
      if (isRequest(message)) void this.#answer(message);
      else if (isResponse(message)) this.#settle(message);
      else {
        this.#parts.onMessage(message as Exclude<Received, RequestMessage | ResponseMessage>);
      }
    }
  }

  async #answer({ id, method, argument }: RequestMessage): Promise<void> {
    try {
      const { value, transfer } = await this.#parts.onRequest(method, argument);
      this.#enqueue({ kind: 'response', id, value }, transfer);
    } catch (error) {
      this.#enqueue({ kind: 'response', id, error: toPortError(error) });
    }
  }

  #settle({ id, value, error }: ResponseMessage): void {
    const call = this.#calls.get(id);
    if (!call) return;
    this.#calls.delete(id);
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

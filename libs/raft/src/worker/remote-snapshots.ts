/**
 * Snapshots across threads: the state is on the main thread, the network on the replica's. Chunks
 * are pulled and pushed one at a time, each with its response, so neither side can run ahead of the
 * other.
 */
import type { LogIndex, SnapshotPoint } from '../core/types.js';
import { handlesMax } from '../limits.js';
import type { IncomingSnapshot, OutgoingSnapshot, SnapshotHandlers } from '../replicated-log.js';
import type { Answer } from './port-channel.js';
import type { MainMethods } from './protocol.js';

export type CallMain = <Method extends keyof MainMethods>(
  method: Method,
  argument: Parameters<MainMethods[Method]>[0],
  transfer?: ArrayBuffer,
) => ReturnType<MainMethods[Method]>;

/** On the replica's thread: the state as if it were here. */
export class RemoteSnapshots implements SnapshotHandlers {
  constructor(private readonly call: CallMain) {}

  async open(): Promise<OutgoingSnapshot> {
    const { handle, appliedIndex } = await this.call('openSnapshot', undefined);
    return {
      appliedIndex,
      next: async () => {
        const chunk = await this.call('nextChunk', { handle });
        return chunk && Buffer.from(chunk);
      },
      close: () => this.call('closeSnapshot', { handle }),
    };
  }

  async receive(): Promise<IncomingSnapshot> {
    const { handle } = await this.call('receiveSnapshot', undefined);
    return {
      write: (bytes) => {
        const chunk = ownMemory(bytes);
        return this.call('writeChunk', { handle, chunk }, chunk);
      },
      finish: () => this.call('finishSnapshot', { handle }),
      discard: () => this.call('discardSnapshot', { handle }),
    };
  }

  install(point: SnapshotPoint): Promise<void> {
    return this.call('installSnapshot', { point });
  }
}

/** On the main thread: what the replica's thread has open. */
export class SnapshotServer implements MainMethods {
  private readonly outgoing = new Map<number, OutgoingSnapshot>();
  private readonly incoming = new Map<number, IncomingSnapshot>();
  private lastHandle = 0;

  constructor(private readonly handlers: SnapshotHandlers) {}

  async openSnapshot(): Promise<{ handle: number; appliedIndex: LogIndex }> {
    this.checkCount();
    const snapshot = await this.handlers.open();
    this.lastHandle += 1;
    this.outgoing.set(this.lastHandle, snapshot);
    return { handle: this.lastHandle, appliedIndex: snapshot.appliedIndex };
  }

  async nextChunk({ handle }: { readonly handle: number }): Promise<ArrayBuffer | undefined> {
    const chunk = await found(this.outgoing, handle).next();
    return chunk && ownMemory(chunk);
  }

  async closeSnapshot({ handle }: { readonly handle: number }): Promise<void> {
    const snapshot = found(this.outgoing, handle);
    this.outgoing.delete(handle);
    await snapshot.close();
  }

  async receiveSnapshot(): Promise<{ handle: number }> {
    this.checkCount();
    const snapshot = await this.handlers.receive();
    this.lastHandle += 1;
    // One is received at a time: an unfinished earlier one is discarded.
    this.incoming.clear();
    this.incoming.set(this.lastHandle, snapshot);
    return { handle: this.lastHandle };
  }

  async writeChunk(given: { readonly handle: number; readonly chunk: ArrayBuffer }): Promise<void> {
    await found(this.incoming, given.handle).write(Buffer.from(given.chunk));
  }

  finishSnapshot({ handle }: { readonly handle: number }): Promise<{ appliedIndex: LogIndex }> {
    return found(this.incoming, handle).finish();
  }

  async discardSnapshot({ handle }: { readonly handle: number }): Promise<void> {
    await found(this.incoming, handle).discard();
  }

  installSnapshot({ point }: { readonly point: SnapshotPoint }): Promise<void> {
    return this.handlers.install(point);
  }

  /** A response to the replica's thread; a chunk is transferred. */
  async answer(method: string, argument: unknown): Promise<Answer> {
    if (!isMainMethod(method)) throw new Error(`no method ${method}`);
    const value = await (this[method] as (argument: unknown) => Promise<unknown>)(argument);
    return value instanceof ArrayBuffer ? { value, transfer: value } : { value };
  }

  /** The replica's thread is gone. */
  async closeAll(): Promise<void> {
    const open = [...this.outgoing.values()];
    this.outgoing.clear();
    this.incoming.clear();
    await Promise.all(open.map((snapshot) => snapshot.close()));
  }

  private checkCount(): void {
    if (this.outgoing.size >= handlesMax) throw new Error('too many snapshots are open');
  }
}

const mainThreadMethods: ReadonlySet<string> = new Set<keyof MainMethods>([
  'openSnapshot',
  'nextChunk',
  'closeSnapshot',
  'receiveSnapshot',
  'writeChunk',
  'finishSnapshot',
  'discardSnapshot',
  'installSnapshot',
]);

function isMainMethod(method: string): method is keyof MainMethods {
  return mainThreadMethods.has(method);
}

function found<Snapshot>(snapshots: ReadonlyMap<number, Snapshot>, handle: number): Snapshot {
  const snapshot = snapshots.get(handle);
  if (!snapshot) throw new Error(`snapshot ${handle} is not open`);
  return snapshot;
}

/** Memory that nothing else shares, so that it can change hands. */
function ownMemory(bytes: Buffer): ArrayBuffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own.buffer;
}

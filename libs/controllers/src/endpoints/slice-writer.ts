/** Writes planned changes of endpoint slices. */
import {
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  keyOf,
  resources,
} from '@orch/client';
import type { EndpointSlice } from '@orch/types/discovery/v1';
import type { ControllerContext } from '../common/controller.js';
import { Expectations } from '../common/expectations.js';
import { messageOf } from '../common/expected-errors.js';
import type { SliceMetrics, SliceOperation } from './slice-metrics.js';
import { ownerKeyOf, type SliceChanges } from './slices.js';

export interface SliceOwner {
  readonly kind: 'Service' | 'Endpoints';
  readonly namespace: string;
  readonly name: string;
}

/** One write; a new slice has no name yet. */
interface Write {
  readonly operation: SliceOperation;
  readonly name?: string | undefined;
  readonly owner: SliceOwner;
}

export class SliceWriter {
  private readonly expectations: Expectations;

  /** `manager`: the label value of the slices of the controller. */
  constructor(
    private readonly context: Pick<ControllerContext, 'client' | 'informers' | 'clock'>,
    manager: string,
    private readonly metrics: Pick<SliceMetrics, 'written'>,
  ) {
    this.expectations = new Expectations(context.clock);
    context.informers.informer(resources.endpointSlices).addHandlers({
      onAdd: (slice) => {
        for (const key of ownerKeyOf(slice, manager)) this.expectations.creationObserved(key);
      },
    });
  }

  /**
   * False while slices that were created are not in the cache: a plan would create them again.
   * Their arrival enqueues their owner.
   */
  isCacheCurrent(key: string): boolean {
    return this.expectations.satisfied(key);
  }

  forget(key: string): void {
    this.expectations.forget(key);
  }

  /** Throws at the first failure; the changes before it are written. */
  async write(owner: SliceOwner, { updates, creates, deletes }: SliceChanges): Promise<void> {
    const slices = this.context.client.resource(resources.endpointSlices, owner.namespace);
    for (const slice of updates) {
      const { name } = slice.metadata ?? {};
      await this.attempt({ operation: 'update', name, owner }, slices.replace(slice));
    }
    const isCreated = await this.create(owner, creates);
    if (!isCreated) return;
    for (const { metadata: { name = '', uid } = {} } of deletes) {
      const deletion = slices.delete(name, { preconditions: { uid } });
      await this.attempt({ operation: 'delete', name, owner }, deletion);
    }
  }

  /** @returns false if the namespace is being deleted. */
  private async create(owner: SliceOwner, creates: readonly EndpointSlice[]): Promise<boolean> {
    if (creates.length === 0) return true;
    const slices = this.context.client.resource(resources.endpointSlices, owner.namespace);
    const key = keyOf(owner.namespace, owner.name);
    this.expectations.expectCreations(key, creates.length);
    let createdCount = 0;
    try {
      for (const slice of creates) {
        await this.attempt({ operation: 'create', owner }, slices.create(slice));
        createdCount++;
      }
    } catch (error) {
      this.expectations.creationObserved(key, creates.length - createdCount);
      if (isNamespaceTerminating(error)) return false;
      throw error;
    }
    return true;
  }

  /**
   * Counts the write if it succeeds. Adds the operation to the message of an error, unless
   * controllers expect the error. A slice that is gone or another one needs no deletion.
   */
  private async attempt(write: Write, request: Promise<unknown>): Promise<void> {
    const { operation, name: sliceName, owner } = write;
    try {
      await request;
      this.metrics.written(operation);
    } catch (error) {
      if (operation === 'delete' && (isNotFound(error) || isConflict(error))) return;
      if (isConflict(error) || isAlreadyExists(error) || isNamespaceTerminating(error)) throw error;
      const { kind, namespace, name } = owner;
      const target = sliceName === undefined ? operation : `${operation} ${sliceName}`;
      const subject = `${target} EndpointSlice for ${kind} ${namespace}/${name}`;
      throw new Error(`failed to ${subject}: ${messageOf(error)}`, { cause: error });
    }
  }
}

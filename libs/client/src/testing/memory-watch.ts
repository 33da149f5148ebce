/** A watch of the in-memory API server. */
import { parseFieldSelector, parseLabelSelector } from '@orch/apimachinery';
import type { ApiObject, WatchEvent } from '../objects.js';
import type { KnownResource } from '../rest/resource-ref.js';
import type { QueryValue } from '../rest/rest-types.js';
import { expired } from './api-errors.js';
import type { Change, MemoryStore, StoredObject } from './memory-store.js';

export interface MemoryWatchOptions {
  readonly resource: KnownResource<ApiObject>;
  /** '' for all namespaces. */
  readonly namespace: string;
  readonly isSelected: (object: StoredObject) => boolean;
  readonly sinceVersion: number;
  readonly render: (object: ApiObject) => ApiObject;
  readonly onClosed: () => void;
}

export class MemoryWatch implements AsyncIterable<WatchEvent<ApiObject>> {
  private readonly pending: WatchEvent<ApiObject>[] = [];
  private readonly unsubscribe: () => void;
  private readonly isExpired: boolean;
  private isClosed = false;
  private wake: () => void = () => undefined;

  constructor(
    store: MemoryStore,
    private readonly options: MemoryWatchOptions,
  ) {
    const missed = store.changesSince(options.sinceVersion);
    this.isExpired = missed === undefined;
    for (const change of missed ?? []) this.push(change);
    this.unsubscribe = store.subscribe((change) => {
      this.push(change);
      this.wake();
    });
  }

  get pendingCount(): number {
    return this.pending.length;
  }

  close(): void {
    this.isClosed = true;
    this.unsubscribe();
    this.wake();
    this.options.onClosed();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<WatchEvent<ApiObject>> {
    if (this.isExpired) throw expired(this.options.sinceVersion);
    while (!this.isClosed) {
      for (let event = this.pending.shift(); event; event = this.pending.shift()) yield event;
      if (this.isClosed) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /**
   * An object that a change moves into or out of the selection is added or deleted for the watcher.
   */
  private push({ resource, type, object, old }: Change): void {
    const { namespace, isSelected } = this.options;
    if (resource !== this.options.resource) return;
    if (namespace !== '' && object.metadata.namespace !== namespace) return;
    const wasSelected = old !== undefined && isSelected(old);
    const isNowSelected = type !== 'DELETED' && isSelected(object);
    if (!wasSelected && !isNowSelected) return;
    const selectedType = !isNowSelected ? 'DELETED' : wasSelected ? 'MODIFIED' : 'ADDED';
    const rendered = structuredClone(this.options.render(object));
    this.pending.push({ type: selectedType, object: rendered });
  }
}

/** The selectors of a query as a predicate. */
export function selectionOf(query: Record<string, QueryValue>): (object: StoredObject) => boolean {
  const labels = parseLabelSelector(String(query.labelSelector ?? ''));
  const fields = parseFieldSelector(String(query.fieldSelector ?? ''));
  return (object) =>
    labels.matches(object.metadata.labels) && fields.matches((path) => fieldOf(object, path));
}

function fieldOf(object: object, path: string): string {
  let value: unknown = object;
  for (const part of path.split('.')) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined;
  }
  return value === undefined ? '' : String(value);
}

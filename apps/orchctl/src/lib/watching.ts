/**
 * Following resources until interrupted: what is there, then every change. A watch that ends or breaks
 * is taken up where it stopped, on any server; one whose place is no longer kept begins again.
 */
import {
  type ApiObject,
  collectionPath,
  decodeWatch,
  isGone,
  isWatchInterrupted,
  type ResourceRef,
  type RestClient,
  type StreamResponse,
} from '@orch/client';
import { Pace } from './pace.js';
import { type ServerTable, tableMediaTypes } from './server-table.js';

export interface WatchSelection {
  readonly type: ResourceRef<ApiObject>;
  readonly namespace: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Changes only. */
  readonly skipExisting: boolean;
}

interface RawEvent {
  readonly type: string;
  readonly object: ApiObject & ServerTable;
}

/** One table for what is there, then one for each change. */
export async function* watchTable(
  client: RestClient,
  selection: WatchSelection,
): AsyncIterable<ServerTable> {
  for await (const { object } of follow(client, selection, tableMediaTypes())) yield object;
}

/** What is there, object by object, then each change. */
export async function* watchObjects(
  client: RestClient,
  selection: WatchSelection,
): AsyncIterable<ApiObject> {
  for await (const { object } of follow(client, selection, 'application/json')) yield object;
}

async function* follow(
  client: RestClient,
  selection: WatchSelection,
  accept: string,
): AsyncIterable<RawEvent> {
  const { labelSelector, fieldSelector, skipExisting } = selection;
  const path = collectionPath(selection.type, selection.namespace);
  const query = { labelSelector, fieldSelector };
  const isTable = accept.includes('as=Table');
  const pace = new Pace();
  for (;;) {
    const answer = await client.request('GET', path, { headers: { accept }, query });
    const list = answer.json<ApiObject & ServerTable & { items?: ApiObject[] }>();
    if (!skipExisting && isTable) yield { type: 'ADDED', object: list };
    if (!skipExisting && !isTable) {
      const kind = list.kind?.replace(/List$/, '');
      for (const item of list.items ?? []) {
        yield { type: 'ADDED', object: { apiVersion: list.apiVersion, kind, ...item } };
      }
    }
    let version = list.metadata?.resourceVersion ?? '';
    try {
      for (;;) {
        await pace.turn();
        const resumed = { ...query, resourceVersion: version };
        const response = await openWatch(client, path, resumed, accept);
        try {
          for await (const event of decodeWatch<RawEvent['object']>(response.body)) {
            version = versionOf(event) ?? version;
            if (event.type !== 'BOOKMARK') yield event;
          }
        } catch (error) {
          // Whether another server takes it up, or the same again, shows the next turn.
          if (!isWatchInterrupted(error)) throw error;
        }
      }
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
}

function openWatch(
  client: RestClient,
  path: string,
  query: Record<string, string | undefined>,
  accept: string,
): Promise<StreamResponse> {
  return client.stream('GET', path, {
    headers: { accept },
    query: { ...query, watch: true, allowWatchBookmarks: true },
  });
}

function versionOf({ object }: RawEvent): string | undefined {
  const ofRow = object.rows?.[0]?.object?.metadata?.resourceVersion;
  return ofRow ?? object.metadata?.resourceVersion;
}

/**
 * Lists resources and watches them until interrupted. A closed or broken watch resumes at its last
 * resource version, on any server. If that version is compacted, it lists again.
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
import { type ServerTable, tableMediaTypes } from '../output/server-table.js';
import { Pace } from './pace.js';

export interface WatchSelection {
  readonly type: ResourceRef<ApiObject>;
  readonly namespace: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Omits the existing objects. */
  readonly skipExisting: boolean;
}

interface RawEvent {
  readonly type: string;
  readonly object: ApiObject & ServerTable;
}

/** One table with the existing objects, then one per change. */
export async function* watchTable(
  client: RestClient,
  selection: WatchSelection,
): AsyncIterable<ServerTable> {
  for await (const { object } of follow(client, selection, tableMediaTypes())) yield object;
}

/** Each existing object, then the object of each change. */
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
          for await (const event of decodeWatch<RawEvent['object']>(async () => response)) {
            version = versionOf(event) ?? version;
            if (event.type !== 'BOOKMARK') yield event;
          }
        } catch (error) {
          // The next iteration reconnects, to any server.
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

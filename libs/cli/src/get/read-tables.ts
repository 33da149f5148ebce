/** Reads tables from the server: one for the named objects, or one per page of a list. */
import { type ApiObject, collectionPath } from '@orch/client';
import { type ServerTable, type TableRow, tableMediaTypes } from '../output/server-table.js';
import { namespaceFor, type SelectorOptions, selectorQuery } from '../resources/requests.js';
import type { Selection } from '../resources/selection.js';
import type { Session } from '../session/session.js';

export interface TableRequest extends SelectorOptions {
  /** Whether a row includes the metadata of its object or the whole object. */
  readonly includeObject: 'Metadata' | 'Object';
  /** Rows per page. 0 means one page. */
  readonly chunkSize: number;
}

/**
 * Reads one named object. Returns undefined for an error that it has reported, throws every other
 * error.
 */
export type Tolerant = <T>(read: () => Promise<T>) => Promise<T | undefined>;

export async function* readTables(
  session: Session,
  selection: Selection,
  request: TableRequest,
  tolerant: Tolerant,
): AsyncIterable<ServerTable> {
  const { type, names } = selection;
  const namespace = selection.namespace ?? namespaceFor(type, session, request.allNamespaces);
  const path = collectionPath(type, namespace);
  const headers = { accept: tableMediaTypes() };
  const { includeObject } = request;
  const read = async (at: string, query: Record<string, string | number | undefined>) => {
    const answer = await session.client.request('GET', at, { headers, query });
    return asTable(answer.json<ServerTable & ApiObject>());
  };
  if (names.length > 0) {
    const rows: TableRow[] = [];
    let columns: ServerTable['columnDefinitions'];
    for (const name of names) {
      const at = `${path}/${encodeURIComponent(name)}`;
      const table = await tolerant(() => read(at, { includeObject }));
      columns = table?.columnDefinitions ?? columns;
      rows.push(...(table?.rows ?? []));
    }
    yield { columnDefinitions: columns, rows };
    return;
  }
  const query = { ...selectorQuery(request), includeObject, limit: request.chunkSize || undefined };
  let next: string | undefined;
  do {
    const table = await read(path, { ...query, continue: next });
    yield table;
    next = table.metadata?.continue || undefined;
  } while (next);
}

/**
 * The table of a response. A server without a table for the type sends objects: their table has
 * names and ages.
 */
function asTable(answer: ServerTable & ApiObject & { items?: ApiObject[] }): ServerTable {
  if (answer.kind === 'Table') return answer;
  const objects = answer.items ?? [answer];
  return {
    metadata: answer.metadata,
    columnDefinitions: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Created At', type: 'date' },
    ],
    rows: objects.map((object) => ({
      cells: [object.metadata?.name, object.metadata?.creationTimestamp],
      object,
    })),
  };
}

/** The server's tables of what a command line names: one of the named objects, or one a page of a list. */
import { type ApiObject, collectionPath } from '@orch/client';
import type { Selection } from '../arguments.js';
import { namespaceFor, type SelectorOptions, selectorQuery } from '../requests.js';
import { type ServerTable, type TableRow, tableMediaTypes } from '../server-table.js';
import type { Session } from '../session.js';

export interface TableRequest extends SelectorOptions {
  /** What each row carries of its object: `Metadata` or `Object`. */
  readonly includeObject: 'Metadata' | 'Object';
  /** Rows a page; 0: all at once. */
  readonly chunkSize: number;
}

/** Handles the failure to read one named object; rethrows what it cannot handle. */
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

/** A server that makes no table of a type sends the objects: their names and ages must do. */
function asTable(answer: ServerTable & ApiObject & { items?: ApiObject[] }): ServerTable {
  if (answer.kind === 'Table') return answer;
  const objects = answer.items ?? [answer];
  return {
    metadata: answer.metadata as ServerTable['metadata'],
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

/** `orchctl get`: resources as the server's tables, or as JSON, YAML, names or values. */
import { ApiError, type ApiObject, collectionPath, isNotFound } from '@orch/client';
import { type Selection, selectionsOf } from '../lib/arguments.js';
import { singularTypeName } from '../lib/catalog.js';
import type { Configure } from '../lib/context.js';
import { errorLine, PartialFailure, UsageError } from '../lib/errors.js';
import type { Io } from '../lib/io.js';
import { evaluate, parsePath } from '../lib/json-path.js';
import { readManifests } from '../lib/manifests.js';
import { type OutputFormat, objectText, outputFormat } from '../lib/output.js';
import {
  addSelectorFlags,
  defaultChunkSize,
  namespaceFor,
  readObjects,
  refuseSelectors,
  type SelectorOptions,
  selectorQuery,
} from '../lib/requests.js';
import {
  headerOf,
  rowText,
  type ServerTable,
  type TableColumn,
  type TableRow,
  type TableView,
  tableMediaTypes,
} from '../lib/server-table.js';
import type { Session } from '../lib/session.js';
import { TableWriter } from '../lib/table.js';
import { watchObjects, watchTable } from '../lib/watching.js';

export interface GetOptions extends SelectorOptions {
  readonly output?: string;
  readonly filename?: string[];
  readonly recursive?: boolean;
  readonly watch?: boolean;
  readonly watchOnly?: boolean;
  readonly chunkSize: string;
  readonly headers: boolean;
  readonly showLabels?: boolean;
  readonly labelColumns?: string[];
  readonly sortBy?: string;
  readonly ignoreNotFound?: boolean;
  readonly showManagedFields?: boolean;
}

export const configureGet: Configure = (command, context) => {
  addSelectorFlags(
    command.argument('[resources...]', 'TYPE, TYPE NAME..., TYPE/NAME... or TYPE,TYPE'),
  )
    .option('-o, --output <format>', 'json, yaml, wide, name or jsonpath=TEMPLATE')
    .option('-f, --filename <file...>', 'the resources named in files')
    .option('-R, --recursive', 'look through folders of folders')
    .option('-w, --watch', 'show changes as they happen, until interrupted')
    .option('--watch-only', 'as --watch, without what is there already')
    .option(
      '--chunk-size <count>',
      'objects a page; smaller shows sooner, larger needs fewer requests; 0 is all at once',
      String(defaultChunkSize),
    )
    .option('--no-headers', 'leave the line of column names out')
    .option('--show-labels', 'all labels in a last column')
    .option('-L, --label-columns <keys...>', 'these labels as columns')
    .option('--sort-by <path>', 'order by the value of a JSON path, such as .metadata.name')
    .option('--ignore-not-found', 'succeed in silence when a named object does not exist')
    .option('--show-managed-fields', 'keep managed fields in JSON and YAML')
    .action(async (args: string[], options: GetOptions) => {
      const format = outputFormat(options.output);
      const session = await context.session();
      const selections = options.filename
        ? await selectionsOfFiles(options, session, context.io)
        : await selectionsOf(args, session.catalog);
      const getter = new Getter(session, context.io, options, format);
      await getter.show(selections);
    });
};

async function selectionsOfFiles(
  options: GetOptions,
  session: Session,
  io: Io,
): Promise<Selection[]> {
  const manifests = await readManifests(options.filename ?? [], options.recursive ?? false, io);
  return Promise.all(
    manifests.map(async ({ object }) => ({
      type: await session.catalog.kind(object.apiVersion ?? '', object.kind ?? ''),
      names: [object.metadata?.name ?? ''],
    })),
  );
}

class Getter {
  private failed = false;

  constructor(
    private readonly session: Session,
    private readonly io: Io,
    private readonly options: GetOptions,
    private readonly format: OutputFormat,
  ) {}

  async show(selections: readonly Selection[]): Promise<void> {
    if (this.options.watch || this.options.watchOnly) {
      const [only, ...others] = selections;
      if (!only || others.length > 0 || only.names.length > 1) {
        throw new UsageError('--watch works for one resource type, with at most one name');
      }
      await this.watch(only);
    } else if (this.format.kind === 'table' && !this.options.sortBy) {
      await this.showTables(selections);
    } else if (this.format.kind === 'table') await this.showSorted(selections);
    else await this.showObjects(selections);
    if (this.failed) throw new PartialFailure();
  }

  private async showTables(selections: readonly Selection[]): Promise<void> {
    const types = new Set(selections.map(({ type }) => type));
    let rowCount = 0;
    for (const type of types) {
      const names = selections.filter((one) => one.type === type).flatMap((one) => one.names);
      const view = this.view(type.namespaced, types.size > 1 ? `${singularTypeName(type)}/` : '');
      const writer = new TableWriter();
      let columns: readonly TableColumn[] = [];
      let shown = 0;
      for await (const table of this.tables({ type, names })) {
        columns = table.columnDefinitions ?? columns;
        const rows = (table.rows ?? []).map((row) => rowText(row, columns, view));
        if (rows.length === 0) continue;
        const header = shown === 0 && this.options.headers ? [headerOf(columns, view)] : [];
        if (shown === 0 && rowCount > 0) this.io.out('\n');
        this.io.out(writer.format([...header, ...rows]));
        shown += rows.length;
      }
      rowCount += shown;
    }
    if (rowCount === 0 && !this.failed) this.sayNothingFound(selections);
  }

  private async showSorted(selections: readonly Selection[]): Promise<void> {
    const path = parsePath(this.options.sortBy ?? '');
    for (const selection of selections) {
      const view = this.view(selection.type.namespaced, '');
      const rows: TableRow[] = [];
      let columns: readonly TableColumn[] = [];
      for await (const table of this.tables(selection, 'Object')) {
        columns = table.columnDefinitions ?? columns;
        rows.push(...(table.rows ?? []));
      }
      rows.sort((a, b) => compareValues(evaluate(path, a.object)[0], evaluate(path, b.object)[0]));
      const header = this.options.headers ? [headerOf(columns, view)] : [];
      const lines = rows.map((row) => rowText(row, columns, view));
      if (rows.length > 0) this.io.out(new TableWriter().format([...header, ...lines]));
      else if (!this.failed) this.sayNothingFound([selection]);
    }
  }

  /** Tables of the named objects, or of the pages of the list. */
  private async *tables(
    { type, names }: Selection,
    includeObject = 'Metadata',
  ): AsyncIterable<ServerTable> {
    const namespace = namespaceFor(type, this.session, this.options.allNamespaces);
    const path = collectionPath(type, namespace);
    const headers = { accept: tableMediaTypes() };
    if (names.length > 0) {
      this.checkNames();
      for (const name of names) {
        const table = await this.tolerant(() =>
          this.table(`${path}/${encodeURIComponent(name)}`, { headers, query: { includeObject } }),
        );
        if (table) yield table;
      }
      return;
    }
    const limit = this.chunkSize() || undefined;
    let next: string | undefined;
    do {
      const query = { ...selectorQuery(this.options), includeObject, limit, continue: next };
      const table: ServerTable = await this.table(path, { headers, query });
      yield table;
      next = table.metadata?.continue || undefined;
    } while (next);
  }

  private async table(
    path: string,
    request: {
      headers: Record<string, string>;
      query: Record<string, string | number | undefined>;
    },
  ): Promise<ServerTable> {
    const answer = await this.session.client.request('GET', path, request);
    return asTable(answer.json<ServerTable & ApiObject>());
  }

  private async showObjects(selections: readonly Selection[]): Promise<void> {
    const objects: { object: ApiObject; typeName: string }[] = [];
    for (const { type, names } of selections) {
      const typeName = singularTypeName(type);
      const options = { ...this.options, chunkSize: this.chunkSize() };
      const read = (some: readonly string[]) => readObjects(this.session, type, some, options);
      const found =
        names.length === 0
          ? await read([])
          : (await Promise.all(names.map((name) => this.tolerant(() => read([name]))))).flat();
      for (const object of found) if (object) objects.push({ object, typeName });
    }
    if (this.options.sortBy) {
      const path = parsePath(this.options.sortBy);
      objects.sort((a, b) =>
        compareValues(evaluate(path, a.object)[0], evaluate(path, b.object)[0]),
      );
    }
    const isSingle = selections.length === 1 && selections[0]!.names.length === 1;
    if (this.format.kind === 'name' || (isSingle && objects.length === 1)) {
      for (const { object, typeName } of objects) this.print(object, typeName);
      return;
    }
    if (isSingle) return;
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      metadata: { resourceVersion: '' },
      items: objects.map(({ object }) => object),
    };
    this.print(list as ApiObject, 'list');
  }

  private async watch({ type, names }: Selection): Promise<void> {
    const [name] = names;
    if (name !== undefined) this.checkNames();
    const selection = {
      type,
      namespace: namespaceFor(type, this.session, this.options.allNamespaces),
      labelSelector: this.options.selector,
      fieldSelector: name === undefined ? this.options.fieldSelector : `metadata.name=${name}`,
      skipExisting: this.options.watchOnly ?? false,
    };
    if (this.format.kind !== 'table') {
      for await (const object of watchObjects(this.session.client, selection)) {
        if (this.format.kind === 'yaml') this.io.out('---\n');
        this.print(object, singularTypeName(type));
      }
      return;
    }
    const view = this.view(type.namespaced, '');
    const writer = new TableWriter();
    let columns: readonly TableColumn[] = [];
    let headerDue = this.options.headers;
    for await (const table of watchTable(this.session.client, selection)) {
      if (table.columnDefinitions?.length) columns = table.columnDefinitions;
      const rows = (table.rows ?? []).map((row) => rowText(row, columns, view));
      if (rows.length === 0) continue;
      this.io.out(writer.format(headerDue ? [headerOf(columns, view), ...rows] : rows));
      headerDue = false;
    }
  }

  private print(object: ApiObject, typeName: string): void {
    const { showManagedFields } = this.options;
    this.io.out(objectText(object, this.format, typeName, showManagedFields));
  }

  /** Shows the error of one of several objects and goes on. */
  private async tolerant<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (isNotFound(error) && this.options.ignoreNotFound) return undefined;
      if (!(error instanceof ApiError)) throw error;
      this.io.err(errorLine(error));
      this.failed = true;
      return undefined;
    }
  }

  private view(namespaced: boolean, namePrefix: string): TableView {
    return {
      wide: this.format.kind === 'table' && this.format.wide,
      withNamespace: namespaced && this.options.allNamespaces === true,
      withLabels: this.options.showLabels ?? false,
      labelColumns: (this.options.labelColumns ?? []).flatMap((keys) => keys.split(',')),
      namePrefix,
    };
  }

  private checkNames(): void {
    refuseSelectors(this.options);
    if (this.options.allNamespaces) {
      throw new UsageError('a resource cannot be retrieved by name across all namespaces');
    }
  }

  private chunkSize(): number {
    const size = Number(this.options.chunkSize);
    if (!Number.isInteger(size) || size < 0) {
      throw new UsageError(`--chunk-size: want a number from 0 up, got ${this.options.chunkSize}`);
    }
    return size;
  }

  private sayNothingFound(selections: readonly Selection[]): void {
    if (selections.every(({ names }) => names.length > 0)) return;
    const inNamespace =
      selections.some(({ type }) => type.namespaced) && !this.options.allNamespaces;
    const where = inNamespace ? ` in ${this.session.namespace} namespace` : '';
    this.io.err(`No resources found${where}.\n`);
  }
}

/** A server that makes no table of a type sends the objects: their names and ages must do. */
function asTable(answer: ServerTable & ApiObject & { items?: ApiObject[] }): ServerTable {
  if (answer.kind === 'Table') return answer;
  const objects = answer.items ?? [answer];
  return {
    metadata: answer.metadata as ServerTable['metadata'],
    columnDefinitions: [
      { name: 'Name', type: 'string' },
      { name: 'Created At', type: 'date' },
    ],
    rows: objects.map((object) => ({
      cells: [object.metadata?.name, object.metadata?.creationTimestamp],
      object,
    })),
  };
}

function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [String(a ?? ''), String(b ?? '')];
  return left < right ? -1 : left > right ? 1 : 0;
}

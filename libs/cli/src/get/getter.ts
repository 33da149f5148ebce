/**
 * Prints the selected objects for `get`: as tables, sorted tables, objects, or changes of a watch.
 */

import { ApiError, type ApiObject, isNotFound } from '@orch/client';
import { errorLine, PartialFailure, UsageError } from '../command-line/errors.js';
import type { Io } from '../command-line/io.js';
import { count } from '../command-line/option-values.js';
import { type CustomColumn, CustomColumnsPrinter } from '../output/custom-columns.js';
import { type OutputFormat, objectText } from '../output/object-text.js';
import {
  headerOf,
  rowText,
  type ServerTable,
  type TableColumn,
  type TableView,
} from '../output/server-table.js';
import { TableWriter } from '../output/table.js';
import {
  namespaceFor,
  readObjects,
  refuseSelectors,
  type SelectorOptions,
} from '../resources/requests.js';
import type { Selection } from '../resources/selection.js';
import { watchObjects, watchTable } from '../resources/watch.js';
import { singularTypeName } from '../session/catalog.js';
import type { Session } from '../session/session.js';
import { readTables } from './read-tables.js';
import { sortedBy } from './sorting.js';

export interface GetOptions extends SelectorOptions {
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

/** The formats of `-o`, and custom columns, which only `get` has. */
export type GetFormat =
  | OutputFormat
  | { readonly kind: 'custom-columns'; readonly columns: readonly CustomColumn[] };

/** One run of `get`. */
export class Getter {
  private failed = false;
  private readonly columns: CustomColumnsPrinter | undefined;

  constructor(
    private readonly session: Session,
    private readonly io: Io,
    private readonly options: GetOptions,
    private readonly format: GetFormat,
  ) {
    if (format.kind === 'custom-columns') {
      this.columns = new CustomColumnsPrinter(format.columns, options.headers);
    }
  }

  /** Prints all selections. Throws `PartialFailure` if one of several objects could not be read. */
  async show(selections: readonly Selection[]): Promise<void> {
    if (this.options.watch || this.options.watchOnly) {
      const [only, ...others] = selections;
      if (!only || others.length > 0 || only.names.length > 1) {
        throw new UsageError('--watch works for one resource type, with at most one name');
      }
      if (this.options.sortBy) {
        this.io.err('warning: --watch or --watch-only requested, --sort-by will be ignored\n');
      }
      await this.watch(only);
    } else if (this.format.kind === 'table') await this.showTables(selections);
    else await this.showObjects(selections);
    if (this.failed) throw new PartialFailure();
  }

  private async showTables(selections: readonly Selection[]): Promise<void> {
    const merged = mergedByType(selections);
    let rowCount = 0;
    for (const selection of merged) {
      const { type } = selection;
      const prefix = merged.length > 1 ? `${singularTypeName(type)}/` : '';
      const view = this.view(type.namespaced, prefix);
      const writer = new TableWriter();
      let columns: readonly TableColumn[] = [];
      let printedCount = 0;
      for await (const table of this.tables(selection)) {
        columns = table.columnDefinitions ?? columns;
        const rows = (table.rows ?? []).map((row) => rowText(row, columns, view));
        if (rows.length === 0) continue;
        const header = printedCount === 0 && this.options.headers ? [headerOf(columns, view)] : [];
        if (printedCount === 0 && rowCount > 0) this.io.out('\n');
        this.io.out(writer.format([...header, ...rows]));
        printedCount += rows.length;
      }
      rowCount += printedCount;
    }
    if (rowCount === 0 && !this.failed) this.sayNothingFound(selections);
  }

  /** The tables of a selection, page by page, or one sorted table. */
  private async *tables(selection: Selection): AsyncIterable<ServerTable> {
    if (selection.names.length > 0) this.checkNames();
    const { sortBy } = this.options;
    const pages = readTables(
      this.session,
      selection,
      {
        ...this.options,
        includeObject: sortBy ? 'Object' : 'Metadata',
        chunkSize: count('--chunk-size', this.options.chunkSize),
      },
      (read) => this.tolerant(read),
    );
    if (!sortBy) {
      yield* pages;
      return;
    }
    const read: ServerTable[] = [];
    for await (const page of pages) read.push(page);
    const rows = read.flatMap((page) => page.rows ?? []);
    const columnDefinitions = read.findLast((page) => page.columnDefinitions)?.columnDefinitions;
    yield { columnDefinitions, rows: sortedBy(rows, sortBy, (row) => row.object) };
  }

  private async showObjects(selections: readonly Selection[]): Promise<void> {
    let objects: { object: ApiObject; typeName: string }[] = [];
    for (const { type, names, namespace } of selections) {
      const typeName = singularTypeName(type);
      const options = {
        ...this.options,
        chunkSize: count('--chunk-size', this.options.chunkSize),
        namespace,
      };
      const read = (some: readonly string[]) => readObjects(this.session, type, some, options);
      const found =
        names.length === 0
          ? await read([])
          : (await Promise.all(names.map((name) => this.tolerant(() => read([name]))))).flat();
      for (const object of found) if (object) objects.push({ object, typeName });
    }
    const isSingle = selections.length === 1 && selections[0]!.names.length === 1;
    if (this.options.sortBy && !isSingle) {
      objects = sortedBy(objects, this.options.sortBy, ({ object }) => object);
    }
    if (this.format.kind === 'name' || (isSingle && objects.length === 1)) {
      for (const { object, typeName } of objects) this.print(object, typeName);
      return;
    }
    if (isSingle || (objects.length === 0 && this.options.ignoreNotFound)) return;
    if (this.columns) {
      this.io.out(this.columns.text(objects.map(({ object }) => object)));
      return;
    }
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      metadata: { resourceVersion: '' },
      items: objects.map(({ object }) => object),
    };
    this.print(list, 'list');
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
    if (this.format.kind === 'custom-columns') this.io.out(this.columns!.text([object]));
    else {
      const { showManagedFields } = this.options;
      this.io.out(objectText(object, this.format, typeName, showManagedFields));
    }
  }

  /**
   * The result of `read`. If it fails for one of several objects, prints the error and returns
   * undefined.
   */
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

  private sayNothingFound(selections: readonly Selection[]): void {
    if (selections.every(({ names }) => names.length > 0)) return;
    const inNamespace =
      selections.some(({ type }) => type.namespaced) && !this.options.allNamespaces;
    const where = inNamespace ? ` in ${this.session.namespace} namespace` : '';
    this.io.err(`No resources found${where}.\n`);
  }
}

/** Merges the selections of each type, so that its named objects share a table. */
function mergedByType(selections: readonly Selection[]): Selection[] {
  const merged: Selection[] = [];
  for (const selection of selections) {
    const { type, namespace, names } = selection;
    const index = merged.findIndex((other) => other.type === type && other.namespace === namespace);
    const known = merged[index];
    if (known) merged[index] = { ...known, names: [...known.names, ...names] };
    else merged.push(selection);
  }
  return merged;
}

/** Objects as rows of a table: what `get` commands print. */
import type { ApiObject, TableColumn } from '@orch/api';
import { dialect } from '@orch/component';
import type { ServedResource } from '@orch/registry';
import { objectOf } from '@orch/registry';
import type { Entry } from '@orch/store';
import type { IncludeObject } from '../request/representation.js';

export interface TableMetadata {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

function columnDefinition(column: TableColumn<ApiObject>): ColumnDefinition {
  return {
    name: column.name,
    type: column.type,
    format: column.format ?? '',
    description: column.description,
    priority: column.priority ?? 0,
  };
}

export function columnDefinitions(served: ServedResource): ColumnDefinition[] {
  return served.definition.columns.map(columnDefinition);
}

/** The metadata of an object as an object of its own. */
export function partialObject(object: ApiObject, viewVersion: string) {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `${dialect().metaGroup}/${viewVersion}`,
    metadata: object.metadata ?? {},
  };
}

export function tableRow(
  served: ServedResource,
  entry: Entry,
  viewVersion: string,
  include: IncludeObject,
  nowMs: number,
): object {
  const object = objectOf(entry);
  return rowOf(served, object, viewVersion, include, nowMs);
}

export function rowOf(
  served: ServedResource,
  object: ApiObject,
  viewVersion: string,
  include: IncludeObject,
  nowMs: number,
): object {
  const { columns, rowConditions } = served.definition;
  const cells = columns.map((column) => column.cell(object, nowMs));
  const conditions = rowConditions?.(object) ?? [];
  return {
    cells,
    ...(conditions.length > 0 && { conditions }),
    object: rowObject(served, object, viewVersion, include),
  };
}

function rowObject(
  served: ServedResource,
  object: ApiObject,
  viewVersion: string,
  include: IncludeObject,
): object | null {
  if (include === 'None') return null;
  return include === 'Object' ? served.fromStored(object) : partialObject(object, viewVersion);
}

/** `columns`: false leaves the definitions out, as in all but the first event of a watch. */
export function tableOf(
  served: ServedResource,
  viewVersion: string,
  metadata: TableMetadata,
  rows: readonly object[],
  columns: boolean,
): object {
  return {
    kind: 'Table',
    apiVersion: `${dialect().metaGroup}/${viewVersion}`,
    metadata,
    columnDefinitions: columns ? columnDefinitions(served) : null,
    rows,
  };
}

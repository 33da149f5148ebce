/**
 * Table columns of custom resources: the name, then the declared columns, or the age if none is
 * declared.
 */
import { ageCell, parseTime, readJsonPath } from '@orch/apimachinery';
import type { CustomResourceColumnDefinition } from '@orch/types/apiextensions/v1beta1';
import type { ApiObject, TableColumn } from '../definition.js';
import { cellText } from '../schema/index.js';
import { nameColumn } from '../shared/columns.js';

type Cell = string | number | boolean | null;

const age: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  description: 'Time since the object was created.',
  JSONPath: '.metadata.creationTimestamp',
};

export function tableColumns(
  declared: readonly CustomResourceColumnDefinition[] | undefined,
): TableColumn<ApiObject>[] {
  return [nameColumn(), ...(declared?.length ? declared : [age]).map(tableColumn)];
}

function tableColumn(column: CustomResourceColumnDefinition): TableColumn<ApiObject> {
  const { name, type, format, description, priority, JSONPath } = column;
  const find = finderOf(JSONPath);
  return {
    name,
    type: type as TableColumn<ApiObject>['type'],
    ...(format && { format }),
    ...(priority !== undefined && { priority }),
    description: description || `Value at ${JSONPath}.`,
    cell: (object, nowMs) => cellOf(type, find(object), nowMs),
  };
}

/** An invalid path finds nothing: the definition may be older than the rule. */
function finderOf(path: string): (object: ApiObject) => unknown {
  let read: ReturnType<typeof readJsonPath> | undefined;
  return (object) => {
    read ??= readJsonPath(path);
    return read.find(object)[0];
  };
}

/** Values of a type other than the column's are not shown. */
function cellOf(type: string, value: unknown, nowMs: number): Cell {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'string':
      return cellText(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      if (typeof value !== 'string') return null;
      return parseTime(value) === undefined ? '<invalid>' : ageCell(value, nowMs);
    default:
      return null;
  }
}

/** Table columns that most kinds have, and helpers for cells. */
import { ageCell } from '@orch/apimachinery';
import type { ApiObject, TableColumn } from '../definition.js';

export const none = '<none>';

export function nameColumn<T extends ApiObject>(priority = 0): TableColumn<T> {
  return {
    name: 'Name',
    type: 'string',
    format: 'name',
    priority,
    description: 'Name of the object, unique among its kind in its namespace.',
    cell: (object) => object.metadata?.name ?? '',
  };
}

export function ageColumn<T extends ApiObject>(): TableColumn<T> {
  return {
    name: 'Age',
    type: 'string',
    description: 'Time since the object was created.',
    cell: (object, nowMs) => ageCell(object.metadata?.creationTimestamp, nowMs),
  };
}

/** For kinds that show only their creation time. */
export function createdAtColumn<T extends ApiObject>(): TableColumn<T> {
  return {
    name: 'Created At',
    type: 'date',
    description: 'When the object was created.',
    cell: (object) => object.metadata?.creationTimestamp ?? '',
  };
}

/** `<none>` if the text is absent or empty. */
export function textOrNone(text: string | undefined): string {
  return text === undefined || text === '' ? none : text;
}

/** `a=b,c=d`, keys sorted; `<none>` for an empty map. */
export function mapCell(map: Readonly<Record<string, string>> | undefined): string {
  return textOrNone(
    Object.keys(map ?? {})
      .sort()
      .map((key) => `${key}=${map?.[key]}`)
      .join(','),
  );
}

/** Tables of the server: the media types that request them, and their rows as text. */
import type { ApiObject, ObjectMeta } from '@orch/client';
import { dialect } from '@orch/component';

export interface ServerTable {
  readonly kind?: string;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly columnDefinitions?: readonly TableColumn[] | null;
  readonly rows?: readonly TableRow[] | null;
}

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  /** `name` marks the column with object names. */
  readonly format?: string;
  /** 0: always printed. Higher: printed in wide output only. */
  readonly priority?: number;
}

export interface TableRow {
  readonly cells: readonly unknown[];
  readonly object?: ApiObject & { metadata?: ObjectMeta };
}

export interface TableView {
  readonly wide: boolean;
  readonly withNamespace: boolean;
  readonly withLabels: boolean;
  readonly labelColumns: readonly string[];
  /** Prefix of names, such as `pod/`, if several types are printed. */
  readonly namePrefix: string;
}

/** The media types of a table request: a table, otherwise objects. */
export function tableMediaTypes(): string {
  const group = dialect().metaGroup;
  return `application/json;as=Table;v=v1;g=${group},application/json;as=Table;v=v1beta1;g=${group},application/json`;
}

export function headerOf(columns: readonly TableColumn[], view: TableView): string[] {
  const printed = columns.filter((column) => view.wide || !column.priority);
  return [
    ...(view.withNamespace ? ['NAMESPACE'] : []),
    ...printed.map((column) => column.name.toUpperCase()),
    ...view.labelColumns.map((key) => key.slice(key.lastIndexOf('/') + 1).toUpperCase()),
    ...(view.withLabels ? ['LABELS'] : []),
  ];
}

export function rowText(row: TableRow, columns: readonly TableColumn[], view: TableView): string[] {
  const { namespace = '', labels = {} } = row.object?.metadata ?? {};
  const cells = columns.flatMap((column, index) => {
    if (!view.wide && column.priority) return [];
    const text = cellText(row.cells[index]);
    return [column.format === 'name' ? `${view.namePrefix}${text}` : text];
  });
  return [
    ...(view.withNamespace ? [namespace] : []),
    ...cells,
    ...view.labelColumns.map((key) => labels[key] ?? '<none>'),
    ...(view.withLabels ? [labelText(labels)] : []),
  ];
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '<none>';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? '<none>' : pairs.sort().join(',');
}

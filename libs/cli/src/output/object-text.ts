/**
 * Objects as JSON, YAML, names or the values of a path. Keys are sorted, managed fields are
 * omitted.
 */
import { yamlWriteTags } from '@orch/apimachinery';
import type { ApiObject } from '@orch/client';
import { stringify } from 'yaml';
import { UsageError } from '../command-line/errors.js';
import { parseTemplate, renderTemplate, type Template } from './json-path-template.js';

export type OutputFormat =
  | { readonly kind: 'table'; readonly wide: boolean }
  | { readonly kind: 'json' | 'yaml' | 'name' }
  | { readonly kind: 'jsonpath'; readonly template: Template };

/**
 * Parses the value of `-o`. `others`: formats that the command parses itself, for the error. Throws
 * `UsageError`.
 */
export function outputFormat(
  text: string | undefined,
  others: readonly string[] = [],
): OutputFormat {
  if (text === undefined || text === '') return { kind: 'table', wide: false };
  if (text === 'wide') return { kind: 'table', wide: true };
  if (text === 'json' || text === 'yaml' || text === 'name') return { kind: text };
  if (text.startsWith('jsonpath=')) {
    return { kind: 'jsonpath', template: parseTemplate(text.slice('jsonpath='.length)) };
  }
  const formats = ['json', 'yaml', 'wide', 'name', 'jsonpath=TEMPLATE', ...others].join(', ');
  throw new UsageError(`-o: want one of ${formats}, got ${JSON.stringify(text)}`);
}

/** The text of an object in a format other than a table. `typeName` is the type in `type/name`. */
export function objectText(
  object: ApiObject,
  format: OutputFormat,
  typeName: string,
  showManagedFields = false,
): string {
  const printed = showManagedFields ? object : withoutManagedFields(object);
  switch (format.kind) {
    case 'json':
      return `${JSON.stringify(sorted(printed), null, 4)}\n`;
    case 'yaml':
      return yamlText(printed);
    case 'jsonpath':
      return renderTemplate(format.template, printed);
    case 'name':
      return `${typeName}/${object.metadata?.name ?? ''}\n`;
    case 'table':
      throw new Error('tables are printed row by row');
  }
}

/** The texts of several objects in a row; documents of YAML are separated. */
export class ObjectTexts {
  private isFirst = true;

  constructor(private readonly format: OutputFormat) {}

  next(object: ApiObject, typeName: string): string {
    const separator = this.format.kind === 'yaml' && !this.isFirst ? '---\n' : '';
    this.isFirst = false;
    return separator + objectText(object, this.format, typeName);
  }
}

export function yamlText(value: unknown): string {
  // Quotes texts that readers of YAML 1.1 take for times or booleans.
  return stringify(sorted(value), {
    version: '1.1',
    customTags: yamlWriteTags,
    lineWidth: 0,
    indentSeq: false,
  });
}

interface Listing extends ApiObject {
  items?: ApiObject[];
}

function withoutManagedFields(object: Listing): Listing {
  if (Array.isArray(object.items)) {
    return { ...object, items: object.items.map((item) => withoutManagedFields(item)) };
  }
  if (!object.metadata || !('managedFields' in object.metadata)) return object;
  const { managedFields: _hidden, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, sorted(part)]));
}

/** Reads fields of a parsed file by type and reports each problem with the path of its field. */
export class FieldReader {
  constructor(readonly report: (problem: string) => void) {}

  /** The fields of a map; empty after a problem. */
  mapOf(value: unknown, fieldPath: string, known: readonly string[]): Record<string, unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.report(`${fieldPath === '' ? '' : `${fieldPath}: `}must be a map`);
      return {};
    }
    const fields = value as Record<string, unknown>;
    for (const name of Object.keys(fields)) {
      if (!known.includes(name)) {
        this.report(`${fieldPath === '' ? '' : `${fieldPath}.`}${name}: unknown field`);
      }
    }
    return fields;
  }

  /** The items of a list; empty if it is missing or after a problem. */
  listOf(value: unknown, fieldPath: string): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    this.report(`${fieldPath}: must be a list`);
    return [];
  }

  /** The name of a key or provider. It ends at a colon in stored data. */
  nameOf(value: unknown, fieldPath: string): string {
    if (typeof value === 'string' && value !== '' && !value.includes(':')) return value;
    this.report(`${fieldPath}: is mandatory, must be a text and must not contain ':'`);
    return '';
  }
}

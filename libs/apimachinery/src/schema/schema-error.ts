/**
 * An object that does not fit its type, with the place of the fault. Callers turn it into the
 * interface's 400 answer; nothing else is thrown for bad input.
 */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  /** What is wrong, without the place. */
  readonly detail: string;
  /** `spec.containers[0].name`; empty for the object itself. */
  path: string;

  constructor(detail: string, path = '') {
    super(detail);
    this.detail = detail;
    this.path = path;
    this.message = path === '' ? detail : `${path}: ${detail}`;
  }

  /** Puts the name of the enclosing field in front of the path. */
  within(field: string): this {
    const joint = this.path === '' || this.path.startsWith('[') ? '' : '.';
    this.path = `${field}${joint}${this.path}`;
    this.message = `${this.path}: ${this.detail}`;
    return this;
  }
}

/** The error with `field` in front of its path; others as they are. */
export function within(error: unknown, field: string): unknown {
  return error instanceof SchemaError ? error.within(field) : error;
}

/** How an unexpected value is called in messages. */
function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return 'a string';
  if (typeof value === 'boolean') return 'a boolean';
  return typeof value === 'number' ? `the number ${value}` : `a ${typeof value}`;
}

export function wrongType(expected: string, value: unknown, field = ''): SchemaError {
  return new SchemaError(`expected ${expected}, found ${describeValue(value)}`, field);
}

/**
 * An object that does not fit its type, with the path of the error. Callers convert it to a 400
 * response; invalid input throws nothing else.
 */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  /** The problem, without the path. */
  readonly detail: string;
  /** `spec.containers[0].name`; empty for the object itself. */
  path: string;

  constructor(detail: string, path = '') {
    super(detail);
    this.detail = detail;
    this.path = path;
    this.message = path === '' ? detail : `${path}: ${detail}`;
  }

  /** Prepends the name of the enclosing field to the path. */
  within(field: string): this {
    const joint = this.path === '' || this.path.startsWith('[') ? '' : '.';
    this.path = `${field}${joint}${this.path}`;
    this.message = `${this.path}: ${this.detail}`;
    return this;
  }
}

/** The error with `field` prepended to its path; other errors unchanged. */
export function within(error: unknown, field: string): unknown {
  return error instanceof SchemaError ? error.within(field) : error;
}

/** The name of an unexpected value in messages. */
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

/** Paths of fields in errors: `path('spec').child('containers').index(0).key('k')`. Immutable. */
export class FieldPath {
  /**
   * `step`: names of fields, or the index or key of an element. The text is built when it is shown:
   * most paths lead to valid fields.
   */
  constructor(
    private readonly parent: FieldPath | undefined,
    private readonly step: readonly string[] | string | number,
  ) {}

  child(...names: readonly string[]): FieldPath {
    return new FieldPath(this, names);
  }

  index(index: number): FieldPath {
    return new FieldPath(this, index);
  }

  key(key: string): FieldPath {
    return new FieldPath(this, key);
  }

  toString(): string {
    const { parent, step } = this;
    const before = parent?.toString() ?? '';
    if (typeof step !== 'object') return `${before}[${step}]`;
    const tail = step.join('.');
    return before === '' ? tail : `${before}.${tail}`;
  }
}

export function path(...names: readonly string[]): FieldPath {
  return new FieldPath(undefined, names);
}

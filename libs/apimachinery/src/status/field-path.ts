/** Paths of fields in errors: `path('spec').child('containers').index(0).key('k')`. Immutable. */
export class FieldPath {
  constructor(private readonly text: string) {}

  child(...names: readonly string[]): FieldPath {
    const tail = names.join('.');
    return new FieldPath(this.text === '' ? tail : `${this.text}.${tail}`);
  }

  index(index: number): FieldPath {
    return new FieldPath(`${this.text}[${index}]`);
  }

  key(key: string): FieldPath {
    return new FieldPath(`${this.text}[${key}]`);
  }

  toString(): string {
    return this.text;
  }
}

export function path(...names: readonly string[]): FieldPath {
  return new FieldPath(names.join('.'));
}

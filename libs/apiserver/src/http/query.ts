/** The query part of a request target, parsed at first use: most reads have none. */

export class Query {
  static readonly empty = new Query('');

  private parameters: URLSearchParams | undefined;

  constructor(private readonly text: string) {}

  get isEmpty(): boolean {
    return this.text === '';
  }

  has(name: string): boolean {
    return this.text !== '' && this.parsed.has(name);
  }

  /** The first value; empty when absent. */
  get(name: string): string {
    return this.text === '' ? '' : (this.parsed.get(name) ?? '');
  }

  all(name: string): string[] {
    return this.text === '' ? [] : this.parsed.getAll(name);
  }

  /**
   * False if the parameter is absent, `0` or `false`; true for every other value, the empty one
   * included.
   */
  flag(name: string): boolean {
    if (!this.has(name)) return false;
    const value = this.get(name);
    return value !== '0' && value.toLowerCase() !== 'false';
  }

  /** Every parameter in order, as sent. */
  toString(): string {
    return this.text;
  }

  private get parsed(): URLSearchParams {
    this.parameters ??= new URLSearchParams(this.text);
    return this.parameters;
  }
}

/** Splits a request target into path and query. */
export function splitTarget(target: string): { path: string; query: Query } {
  const mark = target.indexOf('?');
  if (mark < 0) return { path: target, query: Query.empty };
  return {
    path: target.slice(0, mark),
    query: mark === target.length - 1 ? Query.empty : new Query(target.slice(mark + 1)),
  };
}

/** The query part of a request target. Parsed at first use, since most reads carry none. */

export class Query {
  #parameters: URLSearchParams | undefined;

  constructor(private readonly text: string) {}

  get isEmpty(): boolean {
    return this.text === '';
  }

  get #parsed(): URLSearchParams {
    this.#parameters ??= new URLSearchParams(this.text);
    return this.#parameters;
  }

  has(name: string): boolean {
    return this.text !== '' && this.#parsed.has(name);
  }

  /** The first value; empty when absent. */
  get(name: string): string {
    return this.text === '' ? '' : (this.#parsed.get(name) ?? '');
  }

  all(name: string): string[] {
    return this.text === '' ? [] : this.#parsed.getAll(name);
  }

  /** `true` unless absent, `0` or `false`; there without a value it is `true` as well. */
  flag(name: string): boolean {
    if (!this.has(name)) return false;
    const value = this.get(name);
    return value !== '0' && value.toLowerCase() !== 'false';
  }

  /** Every parameter in order, for handing on. */
  toString(): string {
    return this.text;
  }
}

export const emptyQuery = new Query('');

/** Splits a request target into path and query. */
export function splitTarget(target: string): { path: string; query: Query } {
  const mark = target.indexOf('?');
  if (mark < 0) return { path: target, query: emptyQuery };
  return {
    path: target.slice(0, mark),
    query: mark === target.length - 1 ? emptyQuery : new Query(target.slice(mark + 1)),
  };
}

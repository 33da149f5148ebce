/** Parsers of options that may be given more than once. Imports nothing. */

/** A parser for options that may be given more than once: every value, in order. */
export function repeated(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

/** As `repeated`; each value may be a list with commas. */
export function repeatedList(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, ...value.split(',').filter((part) => part !== '')];
}

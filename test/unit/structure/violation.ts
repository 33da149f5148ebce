/** One place that breaks a structure rule. */
export interface Violation {
  readonly rule: RuleName;
  /**
   * What the list of known violations names: the file, or `importer -> imported` for a direction.
   */
  readonly key: string;
  readonly line: number;
  readonly advice: string;
}

export type RuleName =
  | 'library direction'
  | 'folder direction'
  | 'import cycle'
  | 'pure core'
  | 'file length'
  | 'function length'
  | 'comment width'
  | 'private name'
  | 'constant name'
  | 'bag name'
  | 'brand identifier'
  | 'kind file';

export function textOf({ rule, key, line, advice }: Violation): string {
  return `${rule}: ${key}:${line}: ${advice}`;
}

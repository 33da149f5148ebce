/** What a JSON path is made of. */

export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

export const comparisonOperators: ReadonlySet<string> = new Set<ComparisonOperator>([
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
]);

export type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'every' }
  | { readonly kind: 'descend' }
  /** Counted from the end where negative; `to` is not among them. */
  | {
      readonly kind: 'slice';
      readonly from: number;
      readonly to: number | undefined;
      readonly stride: number;
    }
  | { readonly kind: 'union'; readonly paths: readonly Steps[] }
  | { readonly kind: 'exists'; readonly path: Steps }
  | {
      readonly kind: 'compare';
      readonly left: Steps;
      readonly operator: ComparisonOperator;
      readonly right: Steps;
    }
  | { readonly kind: 'literal'; readonly value: string | number | boolean };

export type Steps = readonly Step[];

/** A path that cannot be read. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
}

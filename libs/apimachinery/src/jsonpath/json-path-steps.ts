/** The steps of a parsed JSON path. */

export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

const comparisonOperators: ReadonlySet<string> = new Set<ComparisonOperator>([
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
]);

export function isComparisonOperator(text: string): text is ComparisonOperator {
  return comparisonOperators.has(text);
}

export type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'every' }
  | { readonly kind: 'descend' }
  /** Negative bounds count from the end; `to` is exclusive. */
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

/** Reports a path that cannot be parsed. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';

  constructor(
    message: string,
    /** The text from the first step on that cannot be parsed. */
    readonly unreadText = '',
  ) {
    super(message);
  }
}

/** The optional rules for the schemas of a definition. */
export interface SchemaRules {
  readonly allowDefaults: boolean;
  /** The upstream reason why defaults are not allowed. */
  readonly defaultsForbiddenWhy?: string;
  readonly requireStructural: boolean;
  readonly requireValidTypes: boolean;
  readonly requirePrunedDefaults: boolean;
  readonly requireAtomicSets: boolean;
  readonly requireMapListKeys: boolean;
}

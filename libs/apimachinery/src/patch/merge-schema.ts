/** What strategic merge patches need to know about the shape of an object. */

export interface MergeField {
  /** Shape of the value, or of the elements of a list; absent for scalars and free maps. */
  readonly shape?: MergeSchema;
  /** Lists: elements are merged instead of the list being replaced. */
  readonly merge: boolean;
  /** Field by which elements of a merged list are told apart; absent for lists of scalars. */
  readonly mergeKey?: string;
}

export interface MergeSchema {
  field(name: string): MergeField | undefined;
}

/** The shape of maps whose keys are data. */
export const freeShape: MergeSchema = { field: () => undefined };

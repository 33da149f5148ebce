/** The schema information that strategic merge patches need. */

export interface MergeField {
  /** Shape of the value, or of the list elements; absent for scalars and free-form maps. */
  readonly shape?: MergeSchema;
  /** Lists: elements are merged instead of the list being replaced. */
  readonly merge: boolean;
  /** Field that identifies the elements of a merged list; absent for lists of scalars. */
  readonly mergeKey?: string;
}

export interface MergeSchema {
  field(name: string): MergeField | undefined;
}

/** The shape of maps whose keys are data. */
export const freeFormShape: MergeSchema = { field: () => undefined };

/** The options of a delete, checked. */
export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly propagationPolicy: PropagationPolicy | undefined;
  readonly preconditions: {
    readonly uid: string | undefined;
    readonly resourceVersion: string | undefined;
  };
  /** Admission webhooks have seen the request of which this delete is a part. */
  readonly isReviewed?: boolean;
}

/** The options of a delete without options. */
export const defaultDeleteOptions: DeleteOptions = {
  dryRun: false,
  gracePeriodSeconds: undefined,
  orphanDependents: undefined,
  propagationPolicy: undefined,
  preconditions: { uid: undefined, resourceVersion: undefined },
};

/** How a write changes a stored object: as a whole, or one subresource of it. */
import type { ApiObject, StrategyContext } from '@orch/api';
import type { FieldError, FieldSet } from '@orch/apimachinery';
import type { Entry } from '@orch/store';
import type { AdmissionRequest } from '../admission/admission.js';

export interface UpdateStrategy {
  readonly subresource: string;
  /** The fields that `prepare` restores from `old`. The write gains no ownership of them. */
  readonly resetFields: FieldSet;
  /** Restores from `old` what this write may not change. */
  prepare(object: ApiObject, old: ApiObject, context: StrategyContext): void;
  validate(object: ApiObject, old: ApiObject, context: StrategyContext): readonly FieldError[];
}

export interface Update {
  readonly strategy: UpdateStrategy;
  /** Returns the new object in the stored shape. `existing` is shared: never change it. */
  produce(existing: ApiObject, entry: Entry): ApiObject | Promise<ApiObject>;
  /** The uid that the stored object must have; empty: any. */
  readonly uid: string;
  /** As in `AdmissionRequest`; of the object that `produce` returned last. */
  readonly review?: AdmissionRequest['review'];
}

/** The namespace and name of an object; the namespace is empty for cluster-scoped kinds. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

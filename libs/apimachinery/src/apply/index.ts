/** Server-side apply and the ownership of fields. */
export { conflictStatus } from './conflict.js';
export {
  type ApplyResult,
  applyConfiguration,
  managedFieldsAfterUpdate,
  type TrackedApply,
  type TrackedUpdate,
} from './field-manager.js';
export { type FieldSet, fieldSetOf } from './field-set.js';
export { managerName } from './managers.js';
export { ApplyConflictError, type VersionedType } from './ownership.js';
export * as applyShapes from './shape.js';
export { type KeyField, type Shape, shapeOf } from './shape.js';
export { checkTyped, TypedError } from './typed.js';

/** Shared machinery of the API: errors, names, selectors, patches, metadata. */
export {
  type Applied,
  ApplyConflictError,
  applyConfiguration,
  applyShapes,
  checkTyped,
  conflictStatus,
  type FieldSet,
  type KeyField,
  managedFieldsAfterUpdate,
  managerName,
  type Shape,
  setOfFields,
  shapeOf,
  type TrackedApply,
  type TrackedUpdate,
  TypedError,
  type VersionedType,
} from './apply/index.js';
export { type IntOrString, percentOf, scaledValue } from './intstr/int-or-string.js';
export * from './limits.js';
export { conditionOf, isConditionTrue } from './meta/conditions.js';
export * from './meta/owner-references.js';
export {
  immutable,
  type ObjectMetaRules,
  validateAnnotations,
  validateFieldManager,
  validateObjectMeta,
  validateObjectMetaUpdate,
  validateStandardFinalizer,
} from './meta/validate-object-meta.js';
export * from './names/formats.js';
export * from './names/ip.js';
export {
  generatedName,
  label1035Name,
  labelName,
  type NameFormat,
  pathSegmentName,
  randomSuffix,
  subdomainName,
} from './names/object-names.js';
export { applyJsonPatch } from './patch/json-patch.js';
export {
  deepCopy,
  deepEqual,
  isDeeperThan,
  isJsonObject,
  type Json,
  type JsonObject,
  semanticallyEqual,
  setKey,
} from './patch/json-values.js';
export { applyMergePatch } from './patch/merge-patch.js';
export { freeShape, type MergeField, type MergeSchema } from './patch/merge-schema.js';
export { applyStrategicMergePatch } from './patch/strategic-merge.js';
export {
  Quantity,
  QuantityError,
  type QuantityFormat,
} from './quantity/quantity.js';
export { Codec, codecFor } from './schema/codec.js';
export type {
  Encoding,
  FieldDescriptor,
  FieldKind,
  FileDescriptor,
  Lifecycle,
  TypeDescriptor,
  TypeName,
} from './schema/descriptor.js';
export { type Envelope, unwrapUnknown, wrapUnknown } from './schema/envelope.js';
export {
  enumValues,
  type KindName,
  kindNamed,
  schemaFile,
  schemaType,
} from './schema/registry.js';
export { SchemaError } from './schema/schema-error.js';
export { parseDuration } from './schema/time-encoding.js';
export * from './selectors/field-selector.js';
export {
  everyLabelSelector,
  type LabelSelector,
  labelSelectorFromMap,
  labelSelectorFromObject,
  parseLabelSelector,
  validateLabelSelector,
  validateLabels,
} from './selectors/label-selector.js';
export { type Labels, type Requirement, SelectorError } from './selectors/requirement.js';
export { firstUntolerated, tolerates, toleratesTaint } from './selectors/tolerations.js';
export * from './status/errors.js';
export {
  type FieldError,
  type FieldErrorType,
  fieldError,
  fieldErrorBody,
  fieldErrorMessage,
} from './status/field-error.js';
export { FieldPath, path } from './status/field-path.js';
export type { Status, StatusCause, StatusDetails, StatusReason } from './status/status.js';
export { type Failure, isStatus, StatusError } from './status/status-error.js';
export { formatValue, Literal, quote, stringList, stringMap } from './status/value-format.js';
export * from './time/time.js';

/** Shared machinery of the API: errors, names, selectors, patches, metadata. */
export {
  ApplyConflictError,
  type ApplyResult,
  applyConfiguration,
  applyShapes,
  checkTyped,
  conflictStatus,
  type FieldSet,
  fieldSetOf,
  type KeyField,
  managedFieldsAfterUpdate,
  managerName,
  type Shape,
  shapeOf,
  type TrackedApply,
  type TrackedUpdate,
  TypedError,
  type VersionedType,
} from './apply/index.js';
export {
  type CronFields,
  type CronSchedule,
  CronScheduleError,
  parseCronSchedule,
} from './cron/cron-schedule.js';
export type {
  Encoding,
  FieldDescriptor,
  FieldKind,
  FileDescriptor,
  Lifecycle,
  TypeDescriptor,
  TypeName,
} from './descriptors/descriptor.js';
export { type IntOrString, percentOf, scaledValue } from './intstr/int-or-string.js';
export { type JsonPath, type JsonPathSyntax, readJsonPath } from './jsonpath/json-path.js';
export { JsonPathError } from './jsonpath/json-path-steps.js';
export { StepBudget, TooManyStepsError } from './jsonpath/step-budget.js';
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
export {
  applyJsonPatch,
  applyJsonPatchOperations,
  JsonPatchError,
} from './patch/json-patch.js';
export {
  deepCopy,
  deepEqual,
  isDeeperThan,
  isJsonObject,
  type Json,
  type JsonObject,
  membersOf,
  semanticallyEqual,
  setKey,
} from './patch/json-values.js';
export { applyMergePatch } from './patch/merge-patch.js';
export { freeFormShape, type MergeField, type MergeSchema } from './patch/merge-schema.js';
export { applyStrategicMergePatch } from './patch/strategic-merge.js';
export { mergeSchemaOf } from './patch/type-merge-schema.js';
export {
  Quantity,
  QuantityError,
  type QuantityFormat,
} from './quantity/quantity.js';
export {
  type Amounts,
  addAmounts,
  amountsOf,
  pickAmounts,
  resourceListOf,
} from './quota/amounts.js';
export type { QuotaEvaluator, QuotaObject } from './quota/evaluator.js';
export { type CountedResource, countName, quotaEvaluator } from './quota/evaluators.js';
export * from './quota/quota.js';
export { Codec, codecFor } from './schema/codec.js';
export { hasMembers } from './schema/compiled-type.js';
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
export {
  type NodePredicate,
  nodeSelectorPredicate,
  nodeTermPredicate,
  requiredNodesPredicate,
  type SelectableNode,
} from './selectors/node-selector.js';
export { type Labels, type Requirement, SelectorError } from './selectors/requirement.js';
export { firstUntoleratedTaint, tolerates, toleratesTaint } from './selectors/tolerations.js';
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
export {
  formatValue,
  Literal,
  quote,
  stringList,
  stringMap,
  structLiteral,
} from './status/value-format.js';
export * from './time/time.js';
export * from './volumes/bindings.js';
export * from './volumes/storage-keys.js';
export { readConfigurationFile } from './yaml/read-configuration-file.js';
export { isMergeFault, yamlReadOptions, yamlWriteTags } from './yaml/tags.js';

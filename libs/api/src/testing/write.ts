/** Writes objects as the registry does, up to the point of storage. For tests. */
import { codecFor, type FieldError, fieldErrorMessage } from '@orch/apimachinery';
import { FeatureGates, type Features } from '@orch/component';
import type {
  AllocationContext,
  ApiObject,
  ResourceDefinition,
  ServedVersion,
  StrategyContext,
} from '../definition.js';
import { dropDisabledFields } from '../shared/gated-fields.js';
import { createErrors, updateErrors } from '../shared/write-checks.js';

export const now = '2026-01-02T03:04:05Z';
export const nowMs = Date.parse(now);

/** The default feature gates. */
export const features: Features = new FeatureGates('apiserver');

export function requestContext(version?: ServedVersion): StrategyContext {
  return {
    now,
    user: { name: 'admin', uid: '', groups: [], extra: {} },
    dryRun: false,
    features,
    ...(version && { requestVersion: { group: version.group, version: version.version } }),
  };
}

export interface Written<T extends ApiObject> {
  readonly object: T;
  /** Messages with their paths. */
  readonly errors: readonly string[];
  /** The same errors as objects. */
  readonly causes: readonly FieldError[];
}

/** Decodes a body in one of the kind's versions (default: the first) and sets defaults. */
export function decode<T extends ApiObject>(
  definition: ResourceDefinition,
  body: object,
  version: ServedVersion = definition.versions[0]!,
): T {
  const codec = codecFor<ApiObject>(`${version.group}/${version.version}.${definition.kind}`);
  const object = codec.fromJson(body);
  codec.setDefaults(object);
  version.setDefaults?.(object, features);
  const stored = version.toStored ? version.toStored(object) : object;
  stored.metadata ??= {};
  if (definition.namespaced) stored.metadata.namespace ??= 'ns';
  return stored as T;
}

export function create<T extends ApiObject>(
  definition: ResourceDefinition,
  body: object,
  version: ServedVersion = definition.versions[0]!,
): Written<T> {
  const object = decode<T>(definition, { metadata: { name: 'x' }, ...body }, version);
  const context = requestContext(version);
  dropDisabledFields(object, undefined, definition.gatedFields ?? [], features);
  definition.prepareForCreate?.(object, context);
  definition.prepareNamed?.(object, undefined, context);
  const errors = createErrors(object, definition, context);
  definition.prepareForStorage?.(object);
  return written(object, errors);
}

/** Applies `change` to a copy of the stored object. */
export function update<T extends ApiObject>(
  definition: ResourceDefinition,
  old: T,
  change: (object: T) => void,
  version: ServedVersion = definition.versions[0]!,
): Written<T> {
  const object = structuredClone(old);
  change(object);
  if (!version.toStored) version.setDefaults?.(object, features);
  const context = requestContext(version);
  dropDisabledFields(object, old, definition.gatedFields ?? [], features);
  definition.prepareForUpdate?.(object, old, context);
  object.metadata = { resourceVersion: '1', ...object.metadata };
  return written(object, updateErrors(object, old, definition, context));
}

/** Like `update`, through a subresource. */
export function updatePart<T extends ApiObject>(
  definition: ResourceDefinition,
  part: 'status' | 'approval',
  old: T,
  change: (object: T) => void,
  version: ServedVersion = definition.versions[0]!,
): Written<T> {
  const object = structuredClone(old);
  change(object);
  const context = requestContext(version);
  definition[part]?.prepareForUpdate?.(object, old, context);
  return written(object, definition[part]?.validateUpdate?.(object, old, context) ?? []);
}

function written<T extends ApiObject>(object: T, errors: readonly FieldError[]): Written<T> {
  return { object, errors: errors.map(fieldErrorMessage), causes: errors };
}

/** The cells of the object's row by column name. */
export function cells(
  definition: ResourceDefinition,
  object: ApiObject,
): Record<string, string | number | boolean | null> {
  return Object.fromEntries(
    definition.columns.map((column) => [column.name, column.cell(object, nowMs)]),
  );
}

/**
 * Allocation in one IPv4 range with these keys claimed; randomness always yields the lowest value.
 */
export function allocationContext(
  taken: readonly string[] = [],
  ranges: readonly string[] = ['10.96.0.0/16'],
): AllocationContext {
  const keys = new Set(taken);
  return {
    ...requestContext(),
    allocator: { isClaimed: (key) => keys.has(key) },
    settings: {
      serviceClusterIpRanges: ranges,
      serviceNodePortRange: { from: 30_000, to: 32_767 },
    },
    random: () => 0,
  };
}

/** For tests: writes objects the way the registry does, up to the point where they would be stored. */
import {
  codecFor,
  type FieldError,
  fieldErrorMessage,
  subdomainName,
  validateObjectMeta,
} from '@orch/apimachinery';
import { FeatureGates, type Features } from '@orch/component';
import type {
  AllocationContext,
  ApiObject,
  RequestContext,
  ResourceDefinition,
  ServedVersion,
} from '../definition.js';
import { dropDisabledFields } from '../shared/gated-fields.js';

export const now = '2026-01-02T03:04:05Z';
export const nowMs = Date.parse(now);

/** As they are without the flag. */
export const features: Features = new FeatureGates('apiserver');

export function requestContext(version?: ServedVersion): RequestContext {
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
  /** The same errors in parts. */
  readonly causes: readonly FieldError[];
}

/** Decodes and defaults a body in one of the kind's versions, the first when none is named. */
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
  const meta = validateObjectMeta(object.metadata ?? {}, {
    namespaced: definition.namespaced,
    validateName: definition.validateName ?? subdomainName,
    strictFinalizers: definition.strictFinalizers ?? true,
  });
  return written(object, [
    ...meta,
    ...(definition.validate?.(object, context) ?? []),
    ...(definition.validateCreate?.(object, context) ?? []),
  ]);
}

/** `change` is applied to a copy of what was stored. */
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
  return written(object, [
    ...(definition.validate?.(object, context) ?? []),
    ...(definition.validateUpdate?.(object, old, context) ?? []),
  ]);
}

/** As `update`, by a subresource. */
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

/** Allocation in one IPv4 range, with these keys taken; randomness always gives the lowest. */
export function allocationContext(
  taken: readonly string[] = [],
  ranges: readonly string[] = ['10.96.0.0/16'],
): AllocationContext {
  const keys = new Set(taken);
  return {
    ...requestContext(),
    allocator: { taken: (key) => keys.has(key) },
    settings: {
      serviceClusterIpRanges: ranges,
      serviceNodePortRange: { from: 30_000, to: 32_767 },
    },
    random: () => 0,
  };
}

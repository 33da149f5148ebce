/** Shared rules of flow schemas and priority levels. */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type {
  FlowSchema,
  PriorityLevelConfiguration,
} from '@orch/types/flowcontrol.apiserver/v1beta1';
import type { ResourceDefinition } from '../definition.js';
import { countGeneration } from '../shared/generation.js';
import { mandatoryObject } from './system-objects.js';

type FlowObject = FlowSchema | PriorityLevelConfiguration;

/** The specs of mandatory objects are fixed. */
export function validateFixed<T extends FlowObject>(
  object: T,
  systemObjects: readonly T[],
): FieldError[] {
  const name = object.metadata?.name ?? '';
  const fixed = mandatoryObject(systemObjects, name);
  if (!fixed || semanticallyEqual(object.spec, fixed.spec)) return [];
  return [
    fieldError.invalid(path('spec'), object.spec, `spec of '${name}' must equal the fixed value`),
  ];
}

export function validateConditions({ status }: FlowObject): FieldError[] {
  const seen = new Set<string>();
  return (status?.conditions ?? []).flatMap(({ type = '' }, index) => {
    const fieldPath = path('status', 'conditions').index(index).child('type');
    const errors: FieldError[] = seen.has(type) ? [fieldError.duplicate(fieldPath, type)] : [];
    seen.add(type);
    if (type === '') errors.push(fieldError.required(fieldPath, 'must not be empty'));
    return errors;
  });
}

/**
 * `*` must be the only element; the list must not be empty. `missing` and `others` are the ends of
 * messages.
 */
export function validateWildcardList(
  values: readonly string[] | undefined,
  missing: string,
  others: string,
  fieldPath: FieldPath,
): FieldError[] {
  if (!values || values.length === 0) return [fieldError.required(fieldPath, missing)];
  if (values.length === 1 || !values.includes('*')) return [];
  return [
    fieldError.invalid(fieldPath, values, `if '*' is present, must not specify other ${others}`),
  ];
}

export function flowKind<T extends FlowObject>(
  kind: string,
): Pick<
  ResourceDefinition<T>,
  | 'plural'
  | 'singular'
  | 'kind'
  | 'namespaced'
  | 'versions'
  | 'stored'
  | 'hasGeneration'
  | 'updateChecks'
  | 'prepareForCreate'
  | 'prepareForUpdate'
  | 'status'
> {
  return {
    plural: `${kind.toLowerCase()}s`,
    singular: '',
    kind,
    namespaced: false,
    versions: [
      { group: 'flowcontrol.apiserver', version: 'v1beta1' },
      {
        group: 'flowcontrol.apiserver',
        version: 'v1alpha1',
        deprecation: {
          since: '1.20',
          unavailableFrom: '1.21',
          use: { group: 'flowcontrol.apiserver', version: 'v1beta1', kind },
        },
      },
    ],
    stored: { group: 'flowcontrol.apiserver', version: 'v1beta1' },
    hasGeneration: true,
    updateChecks: ['metadata', 'object'],
    prepareForCreate(object) {
      object.status = {};
    },
    prepareForUpdate(object, old) {
      object.status = old.status;
      if (!semanticallyEqual(object.spec, old.spec)) countGeneration(object);
    },
    status: {
      resetFields: ['spec', 'metadata'],
      prepareForUpdate(object, old) {
        const { managedFields, resourceVersion } = object.metadata ?? {};
        object.metadata = { ...old.metadata };
        if (managedFields) object.metadata.managedFields = managedFields;
        if (resourceVersion) object.metadata.resourceVersion = resourceVersion;
        object.spec = old.spec;
      },
      validateUpdate: validateConditions,
    },
  };
}

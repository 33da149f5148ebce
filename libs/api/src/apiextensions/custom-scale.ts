/** The `scale` subresource of custom resources, at the paths that the definition declares. */

import {
  type FieldError,
  fieldError,
  isJsonObject,
  type JsonObject,
  setKey,
} from '@orch/apimachinery';
import type { CustomResourceSubresourceScale } from '@orch/types/apiextensions/v1beta1';
import type { ApiObject, SubresourceScale } from '../definition.js';
import { fieldAt, readFieldPath } from '../schema/index.js';
import { jsonOf } from '../shared/object-json.js';

const replicasMax = 2 ** 31 - 1;

export function customScale(
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: CustomResourceSubresourceScale,
  { group, plural }: { readonly group: string; readonly plural: string },
): SubresourceScale<ApiObject> {
  const spec = readFieldPath(specReplicasPath);
  const status = readFieldPath(statusReplicasPath);
  const selector = labelSelectorPath ? readFieldPath(labelSelectorPath) : [];
  return {
    replicas: (object) => numberAt(object, spec),
    replicasPath: specReplicasPath,
    validatesReplicas: true,
    setReplicas: (object, replicas) => setAt(jsonOf(object), spec, replicas),
    statusReplicas: (object) => numberAt(object, status) ?? 0,
    selector(object) {
      const text = selector.length > 0 ? fieldAt(object, selector) : undefined;
      return typeof text === 'string' ? text : '';
    },
    notFoundAs: { group, resource: plural },
  };
}

/** `part`: the written part; the status is checked in both cases. */
export function scaleNumberErrors(
  object: ApiObject,
  scale: CustomResourceSubresourceScale | undefined,
  part: 'object' | 'status',
): FieldError[] {
  if (!scale) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  const errors = part === 'object' ? numberErrors(object, specReplicasPath) : [];
  errors.push(...numberErrors(object, statusReplicasPath));
  if (labelSelectorPath) {
    const text = fieldAt(object, readFieldPath(labelSelectorPath));
    if (text !== undefined && text !== null && typeof text !== 'string') {
      errors.push(fieldError.invalid(labelSelectorPath, text, 'should be a string'));
    }
  }
  return errors;
}

function numberErrors(object: ApiObject, at: string): FieldError[] {
  const value = fieldAt(object, readFieldPath(at));
  if (value === undefined || value === null) return [];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) {
    return [fieldError.invalid(at, value, 'should be a non-negative integer')];
  }
  if (value > replicasMax) {
    return [fieldError.invalid(at, value, `should be less than or equal to ${replicasMax}`)];
  }
  return [];
}

function numberAt(object: ApiObject, names: readonly string[]): number | undefined {
  const value = fieldAt(object, names);
  return typeof value === 'number' ? value : undefined;
}

function setAt(object: JsonObject, names: readonly string[], value: number): void {
  let parent = object;
  for (const name of names.slice(0, -1)) {
    const child = Object.hasOwn(parent, name) ? parent[name] : undefined;
    const next = isJsonObject(child) ? child : {};
    setKey(parent, name, next);
    parent = next;
  }
  setKey(parent, names.at(-1) ?? '', value);
}

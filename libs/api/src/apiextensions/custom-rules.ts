/**
 * The write strategy of custom resources: status reset, generation, and validation by the schema.
 */
import { type FieldError, semanticallyEqual } from '@orch/apimachinery';
import type { CustomResourceSubresources } from '@orch/types/apiextensions/v1beta1';
import type { ApiObject, ResourceDefinition } from '../definition.js';
import type { StructuralSchema } from '../schema/index.js';
import { countGeneration } from '../shared/generation.js';
import { scaleNumberErrors } from './custom-scale.js';

interface CustomObject extends ApiObject {
  status?: unknown;
}

type Rules = Pick<
  ResourceDefinition,
  'prepareForCreate' | 'prepareForUpdate' | 'status' | 'validateCreate' | 'validateUpdate'
>;

/** `schema` is called on first use. */
export function customRules(
  schema: () => StructuralSchema,
  subresources: CustomResourceSubresources | undefined,
): Rules {
  const scale = subresources?.scale;
  const errors = (
    object: ApiObject,
    old: ApiObject | undefined,
    part: 'object' | 'status',
  ): FieldError[] => [
    ...schema().validate(object, undefined, old),
    ...scaleNumberErrors(object, scale, part),
  ];
  const hasStatus = subresources?.status !== undefined;
  return {
    prepareForCreate(object: CustomObject) {
      if (hasStatus) delete object.status;
    },
    prepareForUpdate(object: CustomObject, old: CustomObject) {
      if (hasStatus) keepStatus(object, old);
      if (!semanticallyEqual(withoutMetadata(object), withoutMetadata(old))) {
        countGeneration(object);
      }
    },
    validateCreate: (object) => errors(object, undefined, 'object'),
    validateUpdate: (object, old) => errors(object, old, 'object'),
    ...(hasStatus && {
      status: {
        resetFields: ['metadata', 'spec'],
        prepareForUpdate: keepAllButStatus,
        validateUpdate: (object, old) => errors(object, old, 'status'),
      },
    }),
  };
}

function keepStatus(object: CustomObject, old: CustomObject): void {
  if (old.status === undefined) delete object.status;
  else object.status = old.status;
}

/** Keeps managedFields: field ownership has already been computed for the written status. */
function keepAllButStatus(object: CustomObject, old: CustomObject): void {
  const { status } = object;
  const managedFields = object.metadata?.managedFields;
  for (const field of Object.keys(object)) delete object[field as keyof CustomObject];
  Object.assign(object, structuredClone(old));
  if (status === undefined) delete object.status;
  else object.status = status;
  const metadata = object.metadata ?? {};
  object.metadata = metadata;
  if (managedFields) metadata.managedFields = managedFields;
  else delete metadata.managedFields;
}

function withoutMetadata(object: ApiObject): ApiObject {
  return { ...object, metadata: {} };
}

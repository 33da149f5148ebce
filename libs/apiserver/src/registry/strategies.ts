/** The ways in which a stored object is written: as a whole, its status, its finalizers. */
import type { ResourceDefinition, SubresourceStatus } from '@orch/api';
import { type FieldSet, setOfFields } from '@orch/apimachinery';
import { metadataErrors } from './object-metadata.js';
import type { ServedResource } from './resource.js';
import type { UpdateStrategy } from './update.js';

const statusFields = setOfFields('status');
const specFields = setOfFields('spec');
const noFields = setOfFields();

/** What a write of the object itself sets back. */
function resetByObject({ status }: ResourceDefinition): FieldSet {
  return status ? statusFields : noFields;
}

const resetByPart = new WeakMap<SubresourceStatus<object>, FieldSet>();

function resetBy(subresource: string, part: SubresourceStatus<object>): FieldSet {
  let fields = resetByPart.get(part);
  if (!fields) {
    const own = subresource === 'status' ? specFields : statusFields;
    fields = part.resetFields ? setOfFields(...part.resetFields) : own;
    resetByPart.set(part, fields);
  }
  return fields;
}

/** Replace and patch of the object itself. */
export function objectStrategy({ definition }: ServedResource): UpdateStrategy {
  return {
    subresource: '',
    resetFields: resetByObject(definition),
    prepare: (object, old, context) => definition.prepareForUpdate?.(object, old, context),
    validate: (object, old, context) => [
      ...metadataErrors(object, definition),
      ...(definition.validate?.(object, context) ?? []),
      ...(definition.validateUpdate?.(object, old, context) ?? []),
    ],
  };
}

interface HasSpec {
  spec?: unknown;
}

/** Writes of `status` and `finalize`, whose body is the whole object. */
export function partStrategy(subresource: string, part: SubresourceStatus<object>): UpdateStrategy {
  return {
    subresource,
    resetFields: resetBy(subresource, part),
    prepare(object, old, context) {
      if (part.prepareForUpdate) part.prepareForUpdate(object, old, context);
      else if (subresource === 'status') (object as HasSpec).spec = (old as HasSpec).spec;
    },
    validate: (object, old, context) => part.validateUpdate?.(object, old, context) ?? [],
  };
}

/** The ways in which a stored object is written: as a whole, its status, its finalizers. */
import { type ApiObject, partErrors, type SubresourceStatus, updateErrors } from '@orch/api';
import { type FieldSet, fieldSetOf } from '@orch/apimachinery';
import type { ServedResource } from '../table/resource.js';
import type { UpdateStrategy } from './update-strategy.js';

const statusFields = fieldSetOf('status');
const specFields = fieldSetOf('spec');
const noFields = fieldSetOf();

/** What a write of the object itself sets back. */
function resetByObject({ definition, served }: ServedResource): FieldSet {
  return definition.status && !served.withoutStatus ? statusFields : noFields;
}

const resetByPart = new WeakMap<SubresourceStatus<ApiObject>, FieldSet>();

function resetBy(subresource: string, part: SubresourceStatus<ApiObject>): FieldSet {
  let fields = resetByPart.get(part);
  if (!fields) {
    const own = subresource === 'status' ? specFields : statusFields;
    fields = part.resetFields ? fieldSetOf(...part.resetFields) : own;
    resetByPart.set(part, fields);
  }
  return fields;
}

/** Replace and patch of the object itself. */
export function objectStrategy(served: ServedResource): UpdateStrategy {
  const { definition } = served;
  return {
    subresource: '',
    resetFields: resetByObject(served),
    prepare: (object, old, context) => definition.prepareForUpdate?.(object, old, context),
    validate: (object, old, context) => updateErrors(object, old, definition, context),
  };
}

interface HasSpec extends ApiObject {
  spec?: unknown;
}

/** Writes of `status` and `finalize`, whose body is the whole object. */
export function partStrategy(
  { definition }: ServedResource,
  subresource: string,
  part: SubresourceStatus<ApiObject>,
): UpdateStrategy {
  return {
    subresource,
    resetFields: resetBy(subresource, part),
    prepare(object: HasSpec, old: HasSpec, context) {
      if (part.prepareForUpdate) part.prepareForUpdate(object, old, context);
      else if (subresource === 'status') object.spec = old.spec;
    },
    validate: (object, old, context) =>
      partErrors(object, old, definition, part.validateUpdate?.(object, old, context) ?? []),
  };
}

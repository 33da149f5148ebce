/** The ways in which a stored object is written: as a whole, its status, its finalizers. */
import type { SubresourceStatus } from '@orch/api';
import { metadataErrors } from './object-metadata.js';
import type { ServedResource } from './resource.js';
import type { UpdateStrategy } from './update.js';

/** Replace and patch of the object itself. */
export function objectStrategy({ definition }: ServedResource): UpdateStrategy {
  return {
    subresource: '',
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
    prepare(object, old, context) {
      if (part.prepareForUpdate) part.prepareForUpdate(object, old, context);
      else if (subresource === 'status') (object as HasSpec).spec = (old as HasSpec).spec;
    },
    validate: (object, old) => part.validateUpdate?.(object, old) ?? [],
  };
}

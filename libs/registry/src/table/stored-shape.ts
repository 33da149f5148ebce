/** Converts a decoded object to its stored shape. */
import type { ApiObject } from '@orch/api';
import type { ServedResource } from './resource.js';

/** Fills defaults in and converts; `object` is in the shape of `served` and changed. */
export function toStoredShape(served: ServedResource, object: ApiObject): ApiObject {
  served.codec.setDefaults(object);
  served.served.setDefaults?.(object, served.features);
  return served.toStored(object);
}

/** Which resource: group head, version and plural, with the object's type carried along. */
import type { ApiObject } from '../objects.js';

export interface ResourceRef<T extends ApiObject> {
  /** Head of the group as `dialect().group` takes it (`core`, `apps`, `events`), or any other group's name. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Never set: carries the type of the objects. */
  readonly objectType?: T;
}

/** A resource whose kind and scope are known without asking the server. */
export interface KnownResource<T extends ApiObject> extends ResourceRef<T> {
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Identifies a resource by group, version and plural, and carries the type of its objects. */
import type { ApiObject } from '../objects.js';

export interface ResourceRef<T extends ApiObject> {
  /** A short name that `dialect().group` expands (`core`, `apps`, `events`), or the full name. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Never set: carries the type of the objects. */
  readonly objectType?: T;
}

/** A resource whose kind and scope are known without discovery. */
export interface KnownResource<T extends ApiObject> extends ResourceRef<T> {
  readonly kind: string;
  readonly namespaced: boolean;
}

/** The attributes of a request that authorization decides on. */
import type { User } from '../authentication/user.js';

/** What a request does, read from its method and path. */
export interface RequestAttributes {
  /** False for discovery, health and every other path that names no resource. */
  readonly isResource: boolean;
  /** Lower-case method for paths that name no resource. */
  readonly verb: string;
  /** The path without its query. */
  readonly path: string;
  /** API group on the wire, empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
}

export interface Attributes {
  readonly user: User;
  readonly info: RequestAttributes;
}

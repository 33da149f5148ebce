/** Reads the objects that tokens are bound to, without knowing how they are stored. */
import type { ObjectMeta } from '@orch/types/meta/v1';

/** An object that a token is bound to. */
export interface BoundObject {
  readonly metadata?: ObjectMeta;
  /** The values of a secret, as base64. */
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * Reports whether an object exists that `matches`. Reads memory first; only a quorum read
 * can find that none does. Rejects with StoreError, also when `timeoutMs` has passed.
 */
export type ObjectLookup = (
  plural: string,
  namespace: string,
  name: string,
  matches: (object: BoundObject) => boolean,
) => Promise<boolean>;

/** The account of a service account token, and the objects that the token is bound to. */

export interface ObjectIdentity {
  readonly name: string;
  readonly uid: string;
}

/** Whom a token is for: an account, for as long as the object lives that the token is bound to. */
export interface TokenSubject {
  readonly namespace: string;
  readonly account: ObjectIdentity;
  readonly pod?: ObjectIdentity;
  readonly secret?: ObjectIdentity;
  /** The secret of the account's namespace that stores a legacy token. */
  readonly storedIn?: string;
}

/** A key management service did not respond, refused or responded with what cannot be used. */
export class KmsError extends Error {
  override readonly name = 'KmsError';
  readonly code = 'kms-failed';
}

/**
 * Digests of secrets under a random key of this process. Digests are compared in place of secrets:
 * the time of a comparison depends on bytes that a client cannot choose.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export class SecretDigests {
  private readonly key = randomBytes(32);

  of(secret: string): Buffer {
    return createHmac('sha256', this.key).update(secret).digest();
  }

  /** For keys of maps. */
  textOf(secret: string): string {
    return createHmac('sha256', this.key).update(secret).digest('base64');
  }
}

const digests = new SecretDigests();

/** Compares two secrets of any length in constant time. */
export function areEqualSecrets(left: string, right: string): boolean {
  return timingSafeEqual(digests.of(left), digests.of(right));
}

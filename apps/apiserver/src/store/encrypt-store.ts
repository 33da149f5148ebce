/** Puts the encryption of the flags on top of the store. */
import { EncryptedStore } from '@orch/apiserver';
import { systemClock } from '@orch/component';
import type { ApiServerContext } from '../context/api-server-context.js';
import type { OpenedStore } from './open-store.js';

/** Without a file, it encrypts nothing and refuses to read ciphertext. */
export function encryptStore(
  { store }: OpenedStore,
  { settings, lifecycle }: ApiServerContext,
): EncryptedStore {
  const encrypted = new EncryptedStore(store, systemClock);
  const { encryption } = settings;
  if (encryption) {
    encryption.follow(({ resources }) => encrypted.setResources(resources));
    encryption.start();
    lifecycle.onStop('encryption', () => encryption.stop());
  }
  return encrypted;
}

/** Flags of encryption at rest. */
import { Flag } from '@orch/component';

export class EncryptionOptions {
  @Flag({
    name: 'encryption-provider-config',
    description:
      'YAML file with the providers and keys that encrypt resources in the store, reloaded when it changes; empty: everything is stored in plaintext. Objects whose key is missing in the file cannot be read',
    default: '',
  })
  providerConfigFile!: string;
}

/** Which secrets are bootstrap tokens. */
import type { InformerSelection } from '@orch/client';
import { dialect } from '@orch/component';

/** Selects the secrets of bootstrap tokens in an informer of secrets. */
export function tokenSecrets(): InformerSelection {
  return {
    namespace: dialect().systemNamespace,
    fieldSelector: `type=bootstrap.${dialect().keyDomain}/token`,
  };
}

/** Flags of the identities of controllers. */
import { Flag } from '@orch/component';

export class AccountOptions {
  @Flag({
    name: 'use-service-account-credentials',
    description:
      'write as the service account of each controller, which may do only what its role permits; otherwise all controllers write as the user of --kubeconfig',
    default: false,
  })
  useServiceAccountCredentials!: boolean;
}

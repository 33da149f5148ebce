/** Flags of authorization. */
import { exitCodes, FatalError, Flag } from '@orch/component';
import {
  type AuthorizationMode,
  authorizationModes,
  type ReviewVersion,
  reviewVersions,
} from '@orch/security';
import { ArrayNotEmpty, ArrayUnique, IsIn, Min } from 'class-validator';

export class AuthorizationOptions {
  @Flag({
    name: 'authorization-mode',
    description: `authorizers, in order; the first that allows or denies a request decides. Known: ${authorizationModes.join(', ')}`,
    default: 'Node,RBAC',
    type: 'list',
  })
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(authorizationModes, { each: true })
  modes!: AuthorizationMode[];

  @Flag({
    name: 'authorization-policy-file',
    description:
      'file with the policies of the mode ABAC, a JSON object per line; read at start, so changes need a restart',
    default: '',
  })
  policyFile!: string;

  @Flag({
    name: 'authorization-webhook-config-file',
    description: 'kubeconfig of the server that decides in the mode Webhook',
    default: '',
  })
  webhookConfigFile!: string;

  @Flag({
    name: 'authorization-webhook-version',
    description: `version of the reviews for that server, one of ${reviewVersions.join(', ')}`,
    default: 'v1beta1',
    type: 'string',
  })
  @IsIn(reviewVersions)
  webhookVersion!: ReviewVersion;

  @Flag({
    name: 'authorization-webhook-cache-authorized-ttl',
    description:
      'time for which a permission is cached. Higher: a revoked permission works longer. Lower: more requests to the webhook.',
    default: '5m0s',
    type: 'duration',
  })
  @Min(0)
  webhookAllowedMs!: number;

  @Flag({
    name: 'authorization-webhook-cache-unauthorized-ttl',
    description:
      'time for which a refusal is cached. Higher: a new permission works later. Lower: more requests to the webhook.',
    default: '30s',
    type: 'duration',
  })
  @Min(0)
  webhookRefusedMs!: number;
}

/** Throws FatalError unless both or neither of mode and webhook are given. */
export function checkWebhookMode({ modes, webhookConfigFile }: AuthorizationOptions): void {
  if (modes.includes('Webhook') === (webhookConfigFile !== '')) return;
  throw new FatalError(
    exitCodes.usage,
    '--authorization-mode=Webhook and --authorization-webhook-config-file belong together: give both or neither',
  );
}

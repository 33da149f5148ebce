/** Connects the webhooks that review tokens and access, and closes them at shutdown. */
import { loadReviewClient } from '@orch/apiserver';
import { connectionOf, exitCodes, FatalError, KubeconfigError, systemClock } from '@orch/component';
import type {
  AuthenticationDependencies,
  PostReview,
  WebhookAuthorizerOptions,
} from '@orch/security';
import type { ApiServerContext } from '../context/api-server-context.js';

/** Rejects with FatalError if the kubeconfig is missing or invalid. Undefined: no such flag. */
export async function openTokenWebhook(
  process: ApiServerContext,
): Promise<AuthenticationDependencies['tokenWebhook']> {
  const { webhookConfigFile, webhookVersion, webhookCacheMs } = process.options.authentication;
  const post = await openWebhook(process, webhookConfigFile, 'token webhook');
  return post && { post, version: webhookVersion, cacheMs: webhookCacheMs };
}

/** Rejects with FatalError if the kubeconfig is missing or invalid. Undefined: no such flag. */
export async function openAuthorizationWebhook(
  process: ApiServerContext,
): Promise<WebhookAuthorizerOptions | undefined> {
  const { webhookConfigFile, webhookVersion, webhookAllowedMs, webhookRefusedMs } =
    process.options.authorization;
  const post = await openWebhook(process, webhookConfigFile, 'authorization webhook');
  return (
    post && {
      post,
      version: webhookVersion,
      allowedMs: webhookAllowedMs,
      refusedMs: webhookRefusedMs,
      clock: systemClock,
    }
  );
}

async function openWebhook(
  { lifecycle, settings }: ApiServerContext,
  path: string,
  use: string,
): Promise<PostReview | undefined> {
  if (path === '') return undefined;
  const { ReviewClient } = await loadReviewClient();
  try {
    const client = new ReviewClient({
      connection: connectionOf(path),
      dial: settings.egress.controlPlane,
      use,
      random: Math.random,
    });
    lifecycle.onStop(use, () => client.close());
    return (review) => client.post(review);
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new FatalError(exitCodes.usage, error.message, { cause: error });
  }
}

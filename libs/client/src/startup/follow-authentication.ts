/**
 * Reads the trusted clients that the API servers publish, and follows their changes. While no
 * server responds, the lookup is repeated; a server that refuses it ends the process unless that is
 * tolerated.
 */
import {
  authenticationConfigMap,
  type Clock,
  type DelegatedAuthenticationOptions,
  dialect,
  exitCodes,
  FatalError,
  type Lifecycle,
  type Logger,
  retry,
} from '@orch/component';
import type { ConfigMap } from '@orch/types/core/v1';
import { resources } from '../generated/resources.js';
import { Informer } from '../informer/informer.js';
import { limits } from '../limits.js';
import type { ApiClient } from '../rest/api-client.js';
import { ApiError, isNotFound } from '../rest/api-error.js';

export interface FollowAuthenticationDependencies {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lifecycle: Pick<Lifecycle, 'fail' | 'onStop' | 'stopping'>;
  /** Uses the data of the config map. */
  readonly publish: (data: Readonly<Record<string, string>>) => void;
}

/** Returns immediately; a refused lookup ends the process. */
export function followAuthentication(
  { toleratesLookupFailure }: Pick<DelegatedAuthenticationOptions, 'toleratesLookupFailure'>,
  dependencies: FollowAuthenticationDependencies,
): void {
  const { logger, lifecycle } = dependencies;
  lookUp(dependencies)
    .catch((error: unknown) => {
      if (lifecycle.stopping.aborted) return;
      if (!toleratesLookupFailure) throw refused(error);
      logger.warn({ err: error }, 'the published authentication cannot be read');
    })
    .then(() => follow(dependencies))
    .catch((error: unknown) => lifecycle.fail(error));
}

/** A missing config map means that no client is trusted. Rejects if a server refuses. */
async function lookUp(dependencies: FollowAuthenticationDependencies): Promise<void> {
  const { client, clock, logger, lifecycle, publish } = dependencies;
  let refusedCount = 0;
  const read = async () => {
    try {
      const configMap = await configMaps(client).get(authenticationConfigMap);
      publish(configMap.data ?? {});
    } catch (error) {
      if (isNotFound(error)) return;
      if (isRefusal(error)) refusedCount += 1;
      else logger.warn({ err: error }, 'the published authentication cannot be read yet');
      throw error;
    }
  };
  await retry(read, {
    ...{ initialMs: 500, maxMs: 5_000, factor: 2, jitter: 0.5, random: Math.random },
    attemptCountMax: Number.POSITIVE_INFINITY,
    // A new cluster may not have its roles yet.
    isRetryable: () => refusedCount < limits.refusedLookupCountMax,
    signal: lifecycle.stopping,
    clock,
  });
}

function follow(dependencies: FollowAuthenticationDependencies): void {
  const { client, clock, logger, lifecycle, publish } = dependencies;
  if (lifecycle.stopping.aborted) return;
  const informer = new Informer<ConfigMap>({
    client,
    clock,
    logger,
    resource: resources.configMaps,
    namespace: dialect().systemNamespace,
    fieldSelector: `metadata.name=${authenticationConfigMap}`,
  });
  informer.addHandlers({
    onAdd: ({ data = {} }) => publish(data),
    onUpdate: ({ data = {} }) => publish(data),
    // The present settings stay: a deletion by mistake must not lock out all clients.
  });
  informer.start();
  lifecycle.onStop('published authentication', () => informer.stop());
}

function configMaps(client: ApiClient) {
  return client.resource(resources.configMaps, dialect().systemNamespace);
}

/** Whether the server responded and will respond the same again. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.statusCode < 500 && error.statusCode !== 429;
}

function refused(error: unknown): FatalError {
  const what = `cannot read the config map ${dialect().systemNamespace}/${authenticationConfigMap}`;
  const remedy = `bind the role ${authenticationConfigMap}-reader, or set --authentication-tolerate-lookup-failure or --authentication-skip-lookup`;
  const cause = error instanceof Error ? error.message : String(error);
  return new FatalError(exitCodes.failed, `${what}: ${cause}; ${remedy}`, { cause: error });
}

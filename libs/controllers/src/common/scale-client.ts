/**
 * Reads and writes the `scale` subresource of any resource by kind. Discovery finds the resources
 * of a kind; it is repeated when a kind is unknown, at most once in a while.
 */
import { parseApiVersion } from '@orch/apimachinery';
import { type ApiClient, type DiscoveredResource, isNotFound } from '@orch/client';
import { type Clock, dialect } from '@orch/component';
import type { Scale } from '@orch/types/autoscaling/v1';
import { limits } from '../limits.js';

export interface ScaleTarget {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
}

export interface FoundScale {
  readonly scale: Scale;
  readonly resource: DiscoveredResource;
}

/** No served resource has this kind in this group. */
export class UnknownKindError extends Error {
  override readonly name = 'UnknownKindError';
}

/** An `apiVersion` that is not `version` or `group/version`. */
export class ApiVersionError extends Error {
  override readonly name = 'ApiVersionError';
}

export class ScaleClient {
  private resources: readonly DiscoveredResource[] = [];
  private discoveredAtMs = Number.NEGATIVE_INFINITY;
  private discovering: Promise<void> | undefined;

  constructor(
    private readonly client: ApiClient,
    private readonly clock: Clock,
  ) {}

  /**
   * The scale of a target, in the first version that has one. Throws ApiVersionError,
   * UnknownKindError, or the error of the request: 404 if the target does not exist or does not
   * scale.
   */
  async get(namespace: string, target: ScaleTarget): Promise<FoundScale> {
    let firstError: unknown;
    for (const resource of await this.resourcesOf(target)) {
      try {
        const scale = await this.subresource(resource, namespace, target.name).get();
        return { scale, resource };
      } catch (error) {
        if (!isNotFound(error)) throw error;
        firstError ??= error;
      }
    }
    throw firstError;
  }

  /** Writes the replicas of a scale that `get` returned; conflicts if it has changed. */
  async update(
    namespace: string,
    { scale, resource }: FoundScale,
    replicas: number,
  ): Promise<Scale> {
    const name = scale.metadata?.name ?? '';
    const changed = { ...scale, spec: { ...scale.spec, replicas } };
    return this.subresource(resource, namespace, name).replace(changed);
  }

  /** The served resources of the kind, of the version of the target first. Never empty. */
  async resourcesOf({
    apiVersion = '',
    kind,
  }: Pick<ScaleTarget, 'apiVersion' | 'kind'>): Promise<DiscoveredResource[]> {
    const { group, version } = parseApiVersion(apiVersion);
    if (version === '' && apiVersion !== '') {
      throw new ApiVersionError(`unexpected GroupVersion string: ${apiVersion}`);
    }
    const head = dialect().groupHead(group);
    const find = () => this.resources.filter((one) => one.group === head && one.kind === kind);
    let found = find();
    if (found.length === 0) {
      await this.discover();
      found = find();
    }
    if (found.length === 0) {
      throw new UnknownKindError(`no matches for kind "${kind}" in group "${group}"`);
    }
    const rank = (one: DiscoveredResource) => Number(one.version !== version);
    return found.sort((a, b) => rank(a) - rank(b));
  }

  private subresource(resource: DiscoveredResource, namespace: string, name: string) {
    const scoped = this.client.resource(resource, resource.namespaced ? namespace : undefined);
    return scoped.subresource<Scale>(name, 'scale');
  }

  private async discover(): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    if (!this.discovering && nowMs - this.discoveredAtMs < limits.discoveryPauseMs) return;
    this.discovering ??= this.client
      .discover()
      .then(({ resources }) => {
        this.resources = resources;
        this.discoveredAtMs = nowMs;
      })
      .finally(() => {
        this.discovering = undefined;
      });
    await this.discovering;
  }
}

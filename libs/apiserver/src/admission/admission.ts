/**
 * The chain of admission: plugins in a fixed order that may change an object before it is validated
 * and refuse a request afterwards. A request that only reads never comes here.
 */
import type { ApiObject, RequestContext } from '@orch/api';
import type { Operation } from '@orch/store';
import type { ServedResource } from '../registry/resource.js';

export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly served: ServedResource;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** In the stored shape; undefined for a delete. */
  readonly object: ApiObject | undefined;
  readonly old: ApiObject | undefined;
  readonly context: RequestContext;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
}

export interface AdmissionPlugin {
  readonly name: string;
  /** May change `request.object`. Throws StatusError to refuse. */
  mutate?(request: AdmissionRequest): Promise<void> | void;
  /** Throws StatusError to refuse. */
  validate?(request: AdmissionRequest): Promise<void> | void;
  /**
   * What must still hold in the moment of the commit of a creation: another server may have changed what
   * was looked at. Asked again, and may refuse, when it no longer held.
   */
  expectations?(request: AdmissionRequest): Promise<Operation[]>;
}

export class Admission {
  constructor(private readonly plugins: readonly AdmissionPlugin[]) {}

  async mutate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.plugins) await plugin.mutate?.(request);
  }

  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.plugins) await plugin.validate?.(request);
  }

  async expectations(request: AdmissionRequest): Promise<Operation[]> {
    const all = this.plugins.map((plugin) => plugin.expectations?.(request) ?? []);
    return (await Promise.all(all)).flat();
  }
}

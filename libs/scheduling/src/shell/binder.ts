/**
 * Sends bindings to the server, with a bounded number in flight. The caller has assumed the pod on
 * its node and handles the outcome.
 */
import type { ApiClient } from '@orch/client';
import { resources } from '@orch/client';
import type { Binding, Pod } from '@orch/types/core/v1';
import { bindConcurrencyMax, requestTimeoutMs } from '../limits.js';

export class Binder {
  private runningCount = 0;

  constructor(
    private readonly client: ApiClient,
    /** Called when a binding has completed, so that another one may start. */
    private readonly onCompleted: () => void,
  ) {}

  get hasCapacity(): boolean {
    return this.runningCount < bindConcurrencyMax;
  }

  /** Resolves when the server has accepted the binding; rejects with the error of the request. */
  async bind(pod: Pod, nodeName: string): Promise<void> {
    this.runningCount++;
    try {
      const { name = '', namespace, uid } = pod.metadata ?? {};
      const binding: Binding = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name, namespace, uid },
        target: { kind: 'Node', name: nodeName },
      };
      await this.client
        .resource(resources.pods, namespace)
        .subresource<Binding>(name, 'binding')
        .create<unknown>(binding, { timeoutMs: requestTimeoutMs });
    } finally {
      this.runningCount--;
      this.onCompleted();
    }
  }
}

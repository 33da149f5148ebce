/**
 * Sends bindings to the server, a bounded number at a time. The pod already counts on its node while
 * its binding is on the way; the outcome is handed to the caller.
 */
import type { RestClient } from '@orch/client';
import { resources } from '@orch/client';
import type { Binding, Pod } from '@orch/types/core/v1';
import { bindConcurrencyMax, requestTimeoutMs } from '../limits.js';

export class Binder {
  private runningCount = 0;

  constructor(
    private readonly client: RestClient,
    /** Called when a binding has ended and there is room for another. */
    private readonly onRoom: () => void,
  ) {}

  get hasRoom(): boolean {
    return this.runningCount < bindConcurrencyMax;
  }

  /** Resolves when the server has taken the binding; rejects with what it or the connection said. */
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
      this.onRoom();
    }
  }
}

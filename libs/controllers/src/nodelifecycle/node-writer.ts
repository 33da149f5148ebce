/** Writes labels and taints of nodes, and records events about nodes. */

import { type EventRecorder, isConflict, isNotFound, resources } from '@orch/client';
import type { Node, Taint } from '@orch/types/core/v1';
import type { ControllerContext } from '../common/controller.js';
import { ignoring } from '../common/expected-errors.js';

export interface NodeChange {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** All taints of the node. */
  readonly taints?: readonly Taint[] | undefined;
}

export class NodeWriter {
  private readonly recorder: EventRecorder;

  constructor(private readonly context: ControllerContext) {
    this.recorder = context.recorder('node-controller');
  }

  /**
   * Writes the change to this version of the node. @returns false if the node has changed or is
   * gone: the watch delivers that.
   */
  async patch(node: Node, { labels, taints }: NodeChange): Promise<boolean> {
    const { resourceVersion } = node.metadata ?? {};
    const body = {
      metadata: { resourceVersion, ...(labels && { labels }) },
      ...(taints && { spec: { taints } }),
    };
    const patched = this.context.client
      .resource(resources.nodes)
      .patch(node.metadata?.name ?? '', body, { type: 'merge' });
    return (await ignoring(patched, isConflict, isNotFound)) !== undefined;
  }

  /** Records a normal event; `text` follows the name of the node. */
  event(node: Node, reason: string, text: string): void {
    const { name = '', uid } = node.metadata ?? {};
    const regarding = { apiVersion: 'v1', kind: 'Node', name, uid };
    this.recorder.event(regarding, 'Normal', reason, `Node ${name} ${text}`);
  }
}

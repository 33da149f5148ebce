/**
 * Routes of machines without a cloud: the ranges that a node is announced for are in an annotation
 * of the node, one for each cluster, from which the proxies of the other machines install them. The
 * routes of a deleted node disappear with it.
 */
import {
  announcedPodRanges,
  type Informer,
  isConflict,
  isNotFound,
  podRoutesAnnotation,
  resources,
} from '@orch/client';
import type { Node } from '@orch/types/core/v1';
import type { ControllerContext } from '../common/controller.js';
import { ignoring } from '../common/expected-errors.js';
import type { Route, Routes } from './provider.js';

export class AnnouncedRoutes implements Routes {
  private readonly nodes: Informer<Node>;

  constructor(
    private readonly context: ControllerContext,
    private readonly clusterName: string,
  ) {
    this.nodes = context.informers.informer(resources.nodes);
  }

  async list(): Promise<Route[]> {
    return this.nodes.lister.list().flatMap((node) => {
      const nodeName = node.metadata?.name ?? '';
      return announcedPodRanges(node, this.clusterName).map((destination) => ({
        nodeName,
        destination,
      }));
    });
  }

  create({ nodeName, destination }: Route): Promise<void> {
    return this.announce(nodeName, (present) => [...present, destination]);
  }

  async delete({ nodeName, destination }: Route): Promise<void> {
    const others = (present: readonly string[]) => present.filter((one) => one !== destination);
    // Without its node the route is gone.
    await ignoring(this.announce(nodeName, others), isNotFound);
  }

  private async announce(
    nodeName: string,
    change: (present: readonly string[]) => readonly string[],
  ): Promise<void> {
    const nodes = this.context.client.resource(resources.nodes);
    const node = await nodes.get(nodeName);
    const text = [...new Set(change(announcedPodRanges(node, this.clusterName)))].join(',');
    const { uid } = node.metadata ?? {};
    // Null removes the annotation.
    const annotations = { [podRoutesAnnotation(this.clusterName)]: text || null };
    const body = { metadata: { uid, annotations } };
    // Conflict: another node has the name; the next period sees it.
    await ignoring(nodes.patchStatus(nodeName, body, { type: 'merge' }), isConflict);
  }
}

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

  async create({ nodeName, destination }: Route): Promise<void> {
    const isKnown = await this.announce(nodeName, (present) => [...present, destination]);
    if (!isKnown) throw new Error(`the node ${nodeName} does not exist`);
  }

  async delete({ nodeName, destination }: Route): Promise<void> {
    const others = (present: readonly string[]) => present.filter((one) => one !== destination);
    // Without its node the route is gone.
    await this.announce(nodeName, others);
  }

  /** @returns whether the node exists. */
  private async announce(
    nodeName: string,
    change: (present: readonly string[]) => readonly string[],
  ): Promise<boolean> {
    const nodes = this.context.client.resource(resources.nodes);
    // The role of the controller permits lists only. The cache may lack the range before this one.
    const { items } = await nodes.list({ fieldSelector: `metadata.name=${nodeName}` });
    const node = items?.[0];
    if (!node) return false;
    const text = [...new Set(change(announcedPodRanges(node, this.clusterName)))].join(',');
    const { uid } = node.metadata ?? {};
    // Null removes the annotation.
    const annotations = { [podRoutesAnnotation(this.clusterName)]: text || null };
    const body = { metadata: { uid, annotations } };
    const patch = nodes.patchStatus(nodeName, body, { type: 'merge' });
    // Conflict: another node has the name; the next period sees it.
    return (await ignoring(patch, isConflict, isNotFound)) !== undefined;
  }
}

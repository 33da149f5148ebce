/**
 * Keeps the routes of the provider equal to the ranges of the nodes, and reports by the condition
 * NetworkUnavailable of each node whether its pods can be reached.
 */
import { conditionOf, formatTime } from '@orch/apimachinery';
import { type EventRecorder, type Informer, isNotFound, resources } from '@orch/client';
import type { Node } from '@orch/types/core/v1';
import { forEachBounded } from '../common/batches.js';
import type { ControllerContext, ControllerFactory } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring, messageOf } from '../common/expected-errors.js';
import type { NodeIpamOptions } from '../common/node-ipam-options.js';
import { limits } from '../limits.js';
import { createProvider } from '../provider/create-provider.js';
import type { Route, Routes } from '../provider/provider.js';
import { planRoutes, routesTo } from './route-plan.js';

export const routeController: ControllerFactory = (context, options) => {
  const { nodeIpam, provider } = options;
  if (!nodeIpam.allocateNodeCidrs || !nodeIpam.configuresRoutes) return undefined;
  const routes = createProvider(context, provider)?.routes;
  if (!routes) return undefined;
  const reconciler = new RouteReconciler(context, routes, nodeIpam);
  return controller('route', context)
    .every(nodeIpam.routeReconciliationPeriodMs, () => reconciler.run())
    .build();
};

class RouteReconciler {
  private readonly nodes: Informer<Node>;
  private readonly recorder: EventRecorder;

  constructor(
    private readonly context: ControllerContext,
    private readonly routes: Routes,
    private readonly options: Pick<NodeIpamOptions, 'clusterCidrs'>,
  ) {
    this.nodes = context.informers.informer(resources.nodes);
    this.recorder = context.recorder('route_controller');
  }

  async run(): Promise<void> {
    const nodes = this.nodes.lister.list().filter(({ metadata }) => !metadata?.deletionTimestamp);
    const { missing, superfluous } = planRoutes(
      nodes,
      await this.routes.list(),
      this.options.clusterCidrs,
    );
    // First, because another node may have the range of a removed one.
    await this.each(superfluous, (route) => this.delete(route));
    const unreachable = new Set<string>();
    // The routes of a node in order: the provider may keep them in one place.
    const byNode = new Map<string, Route[]>();
    for (const route of missing) {
      byNode.set(route.nodeName, [...(byNode.get(route.nodeName) ?? []), route]);
    }
    await this.each([...byNode.values()], async (ofNode) => {
      for (const route of ofNode) {
        if (!(await this.create(route))) unreachable.add(route.nodeName);
      }
    });
    const isReachable = (node: Node) =>
      routesTo(node).length > 0 && !unreachable.has(node.metadata?.name ?? '');
    const changed = nodes.filter((node) => isReported(node) !== isReachable(node));
    await this.each(changed, (node) => this.report(node, isReachable(node)));
  }

  /** Runs `act` on all items. Throws the first error at the end; the next period retries. */
  private async each<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
    const [error] = await forEachBounded(items, limits.routeConcurrencyMax, act);
    if (error !== undefined) throw error;
  }

  private async delete(route: Route): Promise<void> {
    await this.routes.delete(route);
    this.context.logger.info({ ...route }, 'route deleted');
  }

  /** @returns whether the route exists. */
  private async create(route: Route): Promise<boolean> {
    const { nodeName, destination } = route;
    try {
      await this.routes.create(route);
      this.context.logger.info({ ...route }, 'route created');
      return true;
    } catch (error) {
      const { uid } = this.nodes.lister.get(nodeName)?.metadata ?? {};
      const regarding = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid };
      const message = `Could not create route ${destination} for node ${nodeName}: ${messageOf(error)}`;
      this.recorder.event(regarding, 'Warning', 'FailedToCreateRoute', message);
      return false;
    }
  }

  private async report(node: Node, isReachable: boolean): Promise<void> {
    const now = formatTime(this.context.clock.nowMs());
    const condition = {
      type: 'NetworkUnavailable',
      status: isReachable ? 'False' : 'True',
      reason: isReachable ? 'RouteCreated' : 'NoRouteCreated',
      message: isReachable
        ? 'RouteController created a route'
        : 'RouteController failed to create a route',
      lastHeartbeatTime: now,
      lastTransitionTime: now,
    };
    const patched = this.context.client
      .resource(resources.nodes)
      .patchStatus(
        node.metadata?.name ?? '',
        { status: { conditions: [condition] } },
        { type: 'strategic' },
      );
    await ignoring(patched, isNotFound);
  }
}

/** Whether the condition says that the node can be reached; undefined without one. */
function isReported({ status }: Node): boolean | undefined {
  const condition = conditionOf(status?.conditions, 'NetworkUnavailable');
  return condition && condition.status === 'False';
}

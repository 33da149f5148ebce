/**
 * Routes to the pods of other machines. The routes of this proxy have a protocol number of its own,
 * by which it finds and removes them after a restart.
 */
import { createHash } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { announcedPodRanges } from '@orch/client';
import type { Logger } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import { ip } from '../commands/ip.js';
import type { ProxyOptions } from '../proxy-options.js';
import { type PodRoute, podRoutes, routeChanges } from './route-plan.js';

/** Protocol numbers that no routing daemon of Linux uses. */
const protocols = { first: 200, count: 50 } as const;

export class PodRoutes {
  readonly protocol: string;

  constructor(
    /** Identifies this proxy of this cluster on the machine. */
    owner: string,
    private readonly options: Pick<
      ProxyOptions,
      'podRouteRange' | 'announcedRoutesOnly' | 'clusterName'
    >,
    private readonly logger: Logger,
  ) {
    const digest = createHash('sha256').update(owner).digest().readUInt32BE();
    this.protocol = String(protocols.first + (digest % protocols.count));
  }

  /** Adds missing routes and removes others. Throws the first error after all other changes. */
  async sync(nodes: readonly Node[]): Promise<void> {
    const rangesOf = (node: Node) => this.rangesOf(node);
    await this.apply(podRoutes(nodes, this.options.podRouteRange, localAddresses(), rangesOf));
  }

  /** Whether a change of a node may change the routes to it. */
  areChanged(node: Node, old: Node | undefined): boolean {
    const facts = (one: Node | undefined) =>
      JSON.stringify([one && this.rangesOf(one), one?.status?.addresses]);
    return facts(node) !== facts(old);
  }

  async teardown(): Promise<void> {
    await this.apply([]);
  }

  private rangesOf(node: Node): readonly string[] {
    const { announcedRoutesOnly, clusterName } = this.options;
    const ranges = node.spec?.podCIDRs ?? [];
    if (!announcedRoutesOnly) return ranges;
    const announced = announcedPodRanges(node, clusterName);
    return ranges.filter((range) => announced.includes(range));
  }

  private async apply(wanted: readonly PodRoute[]): Promise<void> {
    const { added, removed } = routeChanges(await this.present(), wanted);
    const errors: unknown[] = [];
    const change = async (action: 'add' | 'del', { range, via }: PodRoute) => {
      try {
        // An existing route of another origin makes `add` fail: it is never replaced.
        await ip('route', action, range, 'via', via, 'proto', this.protocol);
        this.logger.info({ range, via, action }, 'route changed');
      } catch (error) {
        errors.push(error);
      }
    };
    for (const route of removed) await change('del', route);
    for (const route of added) await change('add', route);
    if (errors.length > 0) throw errors[0];
  }

  private async present(): Promise<PodRoute[]> {
    const text = await ip('-o', '-4', 'route', 'show', 'proto', this.protocol);
    return [...text.matchAll(/^(\S+) via (\S+)/gm)].map(([, range = '', via = '']) => ({
      range: range.includes('/') ? range : `${range}/32`,
      via,
    }));
  }
}

function localAddresses(): Set<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(all.map(({ address }) => address));
}

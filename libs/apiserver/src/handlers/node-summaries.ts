/**
 * The usage of nodes, read from their agents when a client requests it, and cached for a short
 * time, so that the API costs nothing while no client uses it. A node that does not respond has no
 * usage; its failure is cached as well, so that it delays few requests.
 */
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { Json } from '@orch/apimachinery';
import { type Clock, ExpiringCache, errorMessage, type Logger } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import {
  nodeSummariesInFlightMax,
  nodeSummaryBytesMax,
  nodeSummaryCountMax,
  nodeSummaryTimeoutMs,
  nodeSummaryTtlMs,
} from '../limits.js';
import { bodyOf } from '../proxy/response-body.js';
import { agentTarget, type NodeAgentTls } from './node-agents.js';
import { type NodeUsage, usageOfSummary } from './node-usage.js';

const summaryPath = '/stats/summary?only_cpu_and_memory=true';

export interface NodeSummariesDependencies {
  readonly nodeAgents: NodeAgentTls;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}

export class NodeSummaries {
  private readonly cache: ExpiringCache<NodeUsage | undefined>;

  constructor(private readonly dependencies: NodeSummariesDependencies) {
    this.cache = new ExpiringCache(nodeSummaryCountMax, dependencies.clock);
  }

  /** Returns the usages by the names of the nodes, without nodes that cannot be read. */
  async read(nodes: readonly Node[]): Promise<ReadonlyMap<string, NodeUsage>> {
    const usages = new Map<string, NodeUsage>();
    const waiting = [...nodes];
    const readOthers = async () => {
      for (let node = waiting.pop(); node; node = waiting.pop()) {
        const usage = await this.readOne(node);
        if (usage) usages.set(node.metadata?.name ?? '', usage);
      }
    };
    const workerCount = Math.min(nodeSummariesInFlightMax, nodes.length);
    await Promise.all(Array.from({ length: workerCount }, readOthers));
    return usages;
  }

  private readOne(node: Node): Promise<NodeUsage | undefined> {
    const { name = '', uid = '' } = node.metadata ?? {};
    return this.cache.get(`${name}/${uid}`, async () => {
      try {
        return { value: await this.fetch(node), ttlMs: nodeSummaryTtlMs };
      } catch (error) {
        const fields = { node: name, reason: errorMessage(error) };
        this.dependencies.logger.warn(fields, 'the usage of a node cannot be read');
        return { value: undefined, ttlMs: nodeSummaryTtlMs };
      }
    });
  }

  private async fetch(node: Node): Promise<NodeUsage> {
    const { host, port, path, tls } = agentTarget(node, summaryPath, this.dependencies.nodeAgents);
    const signal = AbortSignal.timeout(nodeSummaryTimeoutMs);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { host, port, path, signal, agent: false, rejectUnauthorized: false, ...tls };
      request(options).once('response', resolve).on('error', reject).end();
    });
    const body = await bodyOf(response, nodeSummaryBytesMax);
    if (response.statusCode !== 200) {
      const text = body.toString('utf8', 0, 200).trim();
      throw new Error(`GET ${path}: the agent responded ${response.statusCode}: ${text}`);
    }
    return usageOfSummary(JSON.parse(body.toString()) as Json);
  }
}

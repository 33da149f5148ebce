/**
 * The range of pod addresses that the controller manager assigns to a node. The node is registered
 * without a range, so that it gets one, before the runtime starts and the agent reports its status.
 */
import { type ApiClient, isAlreadyExists, isNotFound, resources } from '@orch/client';
import { type Clock, type Logger, retry } from '@orch/component';
import ipaddr from 'ipaddr.js';
import { rangePollMsMax } from '../limits.js';

export interface AssignedRangeDependencies {
  readonly client: ApiClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Resolves with the IPv4 range of the node when it has one. Rejects when `signal` aborts. */
export function assignedRange(dependencies: AssignedRangeDependencies): Promise<string> {
  const { nodeName, clock, random, logger, signal } = dependencies;
  let reported = '';
  const read = async () => {
    try {
      return await rangeOf(dependencies);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== reported) logger.info({ node: nodeName, reason }, 'no pod range yet');
      reported = reason;
      throw error;
    }
  };
  return retry(read, {
    ...{ initialMs: 200, maxMs: rangePollMsMax, factor: 2, jitter: 0.5, random },
    ...{ attemptCountMax: Number.POSITIVE_INFINITY, signal, clock },
  });
}

async function rangeOf({ client, nodeName }: AssignedRangeDependencies): Promise<string> {
  const nodes = client.resource(resources.nodes);
  const node = await nodes.get(nodeName).catch(async (error: unknown) => {
    if (!isNotFound(error)) throw error;
    const object = { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } };
    return nodes.create(object).catch((failure: unknown) => {
      if (!isAlreadyExists(failure)) throw failure;
      return nodes.get(nodeName);
    });
  });
  const range = node.spec?.podCIDRs?.find((one) => ipaddr.IPv4.isValidCIDR(one));
  if (range === undefined) {
    throw new Error('the node has no IPv4 range; does the controller manager assign ranges?');
  }
  return range;
}

/** The flags of hollow nodes. Names, labels, leases and `--max-pods` are those of the agent. */
import { Flag, ValueError } from '@orch/component';
import { IsInt, Max, Min } from 'class-validator';
import ipaddr from 'ipaddr.js';
import { hollowNodeCountMax, hollowWorkerCountMax } from '../limits.js';

export class HollowOptions {
  @Flag({
    name: 'hollow',
    description:
      'number of hollow nodes, which this process simulates without containers, named <node-name>-0 and so on; 0: the agent of a real node. Higher: more memory and requests. Lower: a smaller cluster.',
    default: 0,
  })
  @IsInt()
  @Min(0)
  @Max(hollowNodeCountMax)
  count!: number;

  @Flag({
    name: 'hollow-capacity',
    description: 'cpu and memory of each hollow node, as cpu=32,memory=128Gi',
    type: 'keyValues',
  })
  capacity: Record<string, string> = {};

  @Flag({
    name: 'hollow-pod-range',
    description:
      'IPv4 network from which each hollow node takes a part with twice --max-pods addresses; distinct for each process. Higher prefix: room for fewer nodes.',
    default: '100.64.0.0/10',
  })
  podRange!: string;

  @Flag({
    name: 'hollow-start-delay',
    description:
      'time from the assignment of a pod until its containers run. Higher: pods start later, as with slow image pulls. Lower: one status write less at 0.',
    default: '1s',
    type: 'duration',
  })
  @Min(0)
  startDelayMs!: number;

  @Flag({
    name: 'hollow-ready-delay',
    description:
      'time until the readiness and startup probes of a running container succeed; containers without them are ready immediately. Higher: rollouts take longer. Lower: pods serve earlier.',
    default: '1s',
    type: 'duration',
  })
  @Min(0)
  readyDelayMs!: number;

  @Flag({
    name: 'hollow-termination-delay',
    description:
      'time from the deletion of a pod until its containers have ended, at most its grace period. Higher: more pods are terminating. Lower: names and capacity are free earlier.',
    default: '1s',
    type: 'duration',
  })
  @Min(0)
  terminationDelayMs!: number;

  @Flag({
    name: 'hollow-run-duration',
    description:
      'time after which pods with the restart policy Never or OnFailure succeed; 0 never. Higher: jobs take longer. Lower: more writes per second.',
    default: '30s',
    type: 'duration',
  })
  @Min(0)
  runDurationMs!: number;

  @Flag({
    name: 'hollow-workers',
    description:
      'pods of hollow nodes that are reconciled at the same time. Higher: more concurrent writes to the API servers. Lower: pods start later in bursts.',
    default: 64,
  })
  @IsInt()
  @Min(1)
  @Max(hollowWorkerCountMax)
  workerCount!: number;
}

/**
 * Returns the range of pod addresses of the node with the number `index`. Throws `ValueError` if
 * the whole range has no such part.
 */
export function hollowPodRange(podRange: string, index: number, podCountMax: number): string {
  if (!ipaddr.IPv4.isValidCIDR(podRange)) {
    throw new ValueError(`--hollow-pod-range: ${podRange} is not an IPv4 network`);
  }
  const prefix = Math.min(28, 32 - Math.ceil(Math.log2(2 * podCountMax + 3)));
  const size = 2 ** (32 - prefix);
  const wholeSize = 2 ** (32 - ipaddr.IPv4.parseCIDR(podRange)[1]);
  if ((index + 1) * size > wholeSize) {
    const room = Math.floor(wholeSize / size);
    throw new ValueError(
      `--hollow-pod-range: ${podRange} has room for ${room} nodes of /${prefix}`,
    );
  }
  const network = ipaddr.IPv4.networkAddressFromCIDR(podRange).toByteArray();
  const base = network.reduce((value, octet) => value * 256 + octet, 0) + index * size;
  const octets = [base / 2 ** 24, base / 2 ** 16, base / 2 ** 8, base];
  return `${octets.map((value) => Math.floor(value) % 256).join('.')}/${prefix}`;
}

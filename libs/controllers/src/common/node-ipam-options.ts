/** Flags of the assignment of pod ranges to nodes, and of the routes to them. */
import { Flag, ValueError } from '@orch/component';
import { IsIn, IsInt, Max, Min } from 'class-validator';
import ipaddr from 'ipaddr.js';
import { limits } from '../limits.js';

/** A range of the cluster, and the prefix length of the part that each node gets. */
export interface ClusterRange {
  readonly cidr: string;
  readonly nodePrefix: number;
}

const defaultPrefixes = { ipv4: 24, ipv6: 64 } as const;

type Family = keyof typeof defaultPrefixes;

const maskSize = (suffix: string, what: string) =>
  Flag({
    name: `node-cidr-mask-size${suffix}`,
    description: `prefix length of ${what}. Higher: room for more nodes. Lower: room for more pods on each.`,
    default: 0,
  });

export class NodeIpamOptions {
  @Flag({
    name: 'allocate-node-cidrs',
    description: 'assign each node a part of --cluster-cidr for its pods',
    default: false,
  })
  allocateNodeCidrs!: boolean;

  @Flag({
    name: 'cluster-cidr',
    description:
      'CIDR of all pods, or two CIDRs of different families, comma-separated; requires --allocate-node-cidrs to have an effect',
    default: '',
    type: 'list',
  })
  clusterCidrs!: string[];

  @Flag({
    name: 'service-cluster-ip-range',
    description:
      'CIDR of service addresses, or two, as the API server has them; nodes get no part of --cluster-cidr that overlaps them',
    default: '',
    type: 'list',
  })
  serviceCidrs!: string[];

  @maskSize('', 'the range of a node, for a cluster of one family; 0 is 24 for IPv4, 64 for IPv6')
  @IsInt()
  @Min(0)
  @Max(128)
  maskSize!: number;

  @maskSize('-ipv4', 'the IPv4 range of a node; 0 is 24')
  @IsInt()
  @Min(0)
  @Max(32)
  ipv4MaskSize!: number;

  @maskSize('-ipv6', 'the IPv6 range of a node; 0 is 64')
  @IsInt()
  @Min(0)
  @Max(128)
  ipv6MaskSize!: number;

  @Flag({
    name: 'cidr-allocator-type',
    description:
      'what assigns the ranges; RangeAllocator is this process, the other types need a cloud',
    default: 'RangeAllocator',
  })
  @IsIn(['RangeAllocator'], { message: 'must be RangeAllocator, other types need a cloud' })
  allocatorType!: string;

  @Flag({
    name: 'configure-cloud-routes',
    description:
      'create routes to the ranges of the nodes at the provider; requires --allocate-node-cidrs and a provider with routes',
    default: true,
  })
  configuresRoutes!: boolean;

  @Flag({
    name: 'route-reconciliation-period',
    description:
      'pause between two comparisons of the routes with the nodes. Higher: the pods of a new node are reachable later. Lower: more work without effect.',
    default: '10s',
    type: 'duration',
  })
  @Min(1_000)
  routeReconciliationPeriodMs!: number;

  checkRelations(): void {
    if (this.allocateNodeCidrs) this.clusterRanges();
  }

  /** Throws `ValueError` if the ranges and mask sizes contradict each other. */
  clusterRanges(): ClusterRange[] {
    checkCidrs('cluster-cidr', this.clusterCidrs);
    if (this.clusterCidrs.length === 0) {
      throw new ValueError('--cluster-cidr is missing: --allocate-node-cidrs requires it');
    }
    checkCidrs('service-cluster-ip-range', this.serviceCidrs);
    const isDualStack = this.clusterCidrs.length === 2;
    if (isDualStack && this.maskSize > 0) {
      throw new ValueError(
        '--node-cidr-mask-size applies to one family; with two, use --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6',
      );
    }
    return this.clusterCidrs.map((cidr) => this.clusterRange(cidr));
  }

  private clusterRange(cidr: string): ClusterRange {
    const [address, prefix] = ipaddr.parseCIDR(cidr);
    const family = address.kind();
    const own = family === 'ipv4' ? this.ipv4MaskSize : this.ipv6MaskSize;
    const other = family === 'ipv4' ? this.ipv6MaskSize : this.ipv4MaskSize;
    if (this.clusterCidrs.length === 1 && other > 0) {
      throw new ValueError(
        `--node-cidr-mask-size-${otherFamily(family)} requires a range of that family, --cluster-cidr is ${cidr}`,
      );
    }
    if (this.maskSize > 0 && own > 0) {
      throw new ValueError(
        `--node-cidr-mask-size and --node-cidr-mask-size-${family} exclude each other`,
      );
    }
    const nodePrefix = own || this.maskSize || defaultPrefixes[family];
    const lengthMax = family === 'ipv4' ? 32 : 128;
    const bits = nodePrefix - prefix;
    const bitsMax = limits.nodeRangeBitsMax[family];
    if (nodePrefix > lengthMax || bits < 0 || bits > bitsMax) {
      throw new ValueError(
        `--cluster-cidr: the mask size of a node in ${cidr} must be from ${prefix} to ${Math.min(lengthMax, prefix + bitsMax)}, got ${nodePrefix}`,
      );
    }
    return { cidr, nodePrefix };
  }
}

function otherFamily(family: Family): Family {
  return family === 'ipv4' ? 'ipv6' : 'ipv4';
}

function checkCidrs(flag: string, cidrs: readonly string[]): void {
  const invalid = cidrs.find((cidr) => !cidr.includes('/') || !ipaddr.isValidCIDR(cidr));
  if (invalid !== undefined) throw new ValueError(`--${flag}: ${invalid} is no CIDR`);
  const families = new Set(cidrs.map((cidr) => ipaddr.parseCIDR(cidr)[0].kind()));
  if (families.size < cidrs.length) {
    throw new ValueError(
      `--${flag}: want one CIDR, or two of different families, got ${cidrs.join(',')}`,
    );
  }
}

/**
 * Addresses and ports of services: unique in the cluster, chosen by the client or free. A choice is only
 * a proposal: the registry claims it with the write and asks again when another writer was quicker. A dry
 * run shows what kind of values there would be: no address, and the first ports of the range.
 */
import { BlockList, isIPv4 } from 'node:net';
import {
  type FieldError,
  type FieldPath,
  fieldError,
  internalError,
  invalid,
  path,
  stringList,
} from '@orch/apimachinery';
import type { Service, ServiceSpec } from '@orch/types/core/v1';
import type { AllocationContext, Claim } from '../definition.js';
import { addressAt, addressCount } from './address-range.js';
import { setFamilies } from './service-families.js';
import {
  familyOf,
  getsNodePorts,
  headless,
  type IpFamily,
  isHeadless,
  needsClusterIp,
  needsHealthCheckNodePort,
  specOf,
} from './service-types.js';

/** Random tries before the range is searched in order. */
const randomTryCountMax = 16;
/** Candidates looked at in order; a range may be larger, but rarely so full. */
const searchCountMax = 65_536;

const ipKey = (ip: string) => `clusterip/${ip}`;
const portKey = (port: number) => `nodeport/${port}`;

export function allocateService(
  object: Service,
  old: Service | undefined,
  context: AllocationContext,
): readonly Claim[] {
  const spec = specOf(object);
  const ranges = context.settings.serviceClusterIpRanges;
  const families = ranges.map((range) => familyOf(range));
  const showsFamilies =
    context.features.enabled('IPv6DualStack') || old?.spec?.ipFamilyPolicy !== undefined;
  refuse(object, setFamilies(spec, showsFamilies ? families : families.slice(0, 1)));
  const holder = `services/${object.metadata?.namespace ?? ''}/${object.metadata?.name ?? ''}`;
  const held = new Set(old ? keysOf(old.spec ?? {}) : []);
  const taken = (key: string) => !held.has(key) && context.allocator.taken(key);
  const errors = needsClusterIp(spec) && !isHeadless(spec) ? allocateIps(spec, context, taken) : [];
  errors.push(...allocatePorts(spec, context, taken));
  refuse(object, errors);
  if (!showsFamilies) {
    delete spec.ipFamilies;
    delete spec.ipFamilyPolicy;
  }
  return [...new Set(keysOf(spec))].map((key) => ({ key, holder }));
}

function refuse(object: Service, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  throw invalid({ group: '', kind: 'Service' }, object.metadata?.name ?? '', errors);
}

/** Everything a service holds. */
function keysOf(spec: ServiceSpec): string[] {
  const ips = (spec.clusterIPs ?? []).filter((ip) => ip !== headless);
  const ports = (spec.ports ?? []).map(({ nodePort }) => nodePort ?? 0);
  return [
    ...(needsClusterIp(spec) ? ips.map(ipKey) : []),
    ...[...ports, spec.healthCheckNodePort ?? 0].filter((port) => port > 0).map(portKey),
  ];
}

type Taken = (key: string) => boolean;

function allocateIps(spec: ServiceSpec, context: AllocationContext, taken: Taken): FieldError[] {
  if (context.dryRun) return [];
  const errors: FieldError[] = [];
  const asked = spec.clusterIPs ?? [];
  const ips: string[] = [];
  for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
    const range = rangeOf(context, family as IpFamily);
    const ip = asked[index];
    if (ip === undefined) ips.push(freeIp(range, context, taken));
    else {
      ips.push(ip);
      const problem = ipProblem(ip, range, taken);
      if (problem === undefined) continue;
      errors.push(
        fieldError.invalid(
          path('spec', 'clusterIPs'),
          stringList(asked),
          `failed to allocated ip:${ip} with error:${problem}`,
        ),
      );
    }
  }
  spec.clusterIPs = ips;
  spec.clusterIP = ips[0];
  return errors;
}

function rangeOf(context: AllocationContext, family: IpFamily): string {
  const range = context.settings.serviceClusterIpRanges.find((cidr) => familyOf(cidr) === family);
  if (range === undefined) throw internalError(`no service range for ${family}`);
  return range;
}

function ipProblem(ip: string, range: string, taken: Taken): string | undefined {
  if (!contains(range, ip)) {
    return `provided IP is not in the valid range. The range of valid IPs is ${range}`;
  }
  return taken(ipKey(ip)) ? 'provided IP is already allocated' : undefined;
}

/** Is the address in the range and usable: not the first, and for IPv4 not the last? */
function contains(range: string, ip: string): boolean {
  const [network = '', length = ''] = range.split('/');
  const family = isIPv4(network) ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, Number(length), family);
  if (familyOf(ip) !== familyOf(network) || !list.check(ip, family)) return false;
  if (ip === network) return false;
  return family === 'ipv6' || ip !== addressAt(range, addressCount(range) + 1);
}

function freeIp(range: string, context: AllocationContext, taken: Taken): string {
  const count = addressCount(range);
  const offset = firstFree(count, context.random, (index) =>
    taken(ipKey(addressAt(range, index + 1))),
  );
  if (offset === undefined) {
    throw internalError('failed to allocate a serviceIP: range is full');
  }
  return addressAt(range, offset + 1);
}

/** A random free index below `count`; undefined when none was found. */
function firstFree(
  count: number,
  random: () => number,
  isTaken: (index: number) => boolean,
): number | undefined {
  for (let attempt = 0; attempt < randomTryCountMax; attempt += 1) {
    const index = Math.floor(random() * count);
    if (!isTaken(index)) return index;
  }
  const start = Math.floor(random() * count);
  for (let step = 0; step < Math.min(count, searchCountMax); step += 1) {
    const index = (start + step) % count;
    if (!isTaken(index)) return index;
  }
  return undefined;
}

function allocatePorts(spec: ServiceSpec, context: AllocationContext, taken: Taken): FieldError[] {
  const errors: FieldError[] = [];
  const chosen = new Set<number>();
  const { from, to } = context.settings.serviceNodePortRange;
  const check = (port: number, at: FieldPath) => {
    chosen.add(port);
    if (port < from || port > to) {
      const detail = `provided port is not in the valid range. The range of valid ports is ${from}-${to}`;
      errors.push(fieldError.invalid(at, port, detail));
    } else if (taken(portKey(port))) {
      errors.push(fieldError.invalid(at, port, 'provided port is already allocated'));
    }
  };
  const choose = () => {
    const random = context.dryRun ? () => 0 : context.random;
    const index = firstFree(to - from + 1, random, (offset) => {
      const port = from + offset;
      return chosen.has(port) || (!context.dryRun && taken(portKey(port)));
    });
    if (index === undefined) throw internalError('failed to allocate a nodePort: range is full');
    chosen.add(from + index);
    return from + index;
  };
  const ports = spec.ports ?? [];
  for (const [index, port] of ports.entries()) {
    if (port.nodePort) check(port.nodePort, path('spec', 'ports').index(index).child('nodePort'));
  }
  if (getsNodePorts(spec)) for (const port of ports) port.nodePort ||= choose();
  if (needsHealthCheckNodePort(spec)) {
    if (spec.healthCheckNodePort) {
      check(spec.healthCheckNodePort, path('spec', 'healthCheckNodePort'));
    } else spec.healthCheckNodePort = choose();
  }
  return errors;
}

/**
 * Allocates addresses and ports of services: unique in the cluster, requested by the client or
 * free. An allocation is a proposal: the registry claims it with the write and calls again if
 * another writer claimed it first. A dry run proposes no address, and the first ports of the range.
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
import type { AllocationContext, Claim } from '../../definition.js';
import { addressAt, addressCount } from './address-range.js';
import { setFamilies } from './service-families.js';
import {
  familyOf,
  getsNodePorts,
  headless,
  isHeadless,
  needsClusterIp,
  needsHealthCheckNodePort,
  specOf,
} from './service-types.js';
import { validateTrafficByType } from './service-validation.js';

/**
 * Maximum random attempts before the range is searched in order. Higher: more attempts in a full
 * range. Lower: more searches, and more predictable values.
 */
const randomTryCountMax = 16;
/**
 * Maximum candidates of the search in order. Higher: a nearly full range takes longer. Lower: free
 * values may not be found.
 */
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
  const isClaimed = (key: string) => !held.has(key) && context.allocator.isClaimed(key);
  const changedPort = old ? validateHealthCheckNodePort(spec, old.spec ?? {}) : [];
  const errors =
    needsClusterIp(spec) && !isHeadless(spec) ? allocateIps(spec, context, isClaimed) : [];
  errors.push(...allocatePorts(spec, context, isClaimed));
  refuse(object, errors);
  refuse(object, changedPort);
  refuse(object, validateTrafficByType(spec));
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

/** The health check node port is immutable, also for an update that omits it. */
function validateHealthCheckNodePort(spec: ServiceSpec, before: ServiceSpec): FieldError[] {
  const { healthCheckNodePort: port = 0 } = spec;
  const isHeld = needsHealthCheckNodePort(spec) && needsHealthCheckNodePort(before);
  if (!isHeld || port === (before.healthCheckNodePort ?? 0)) return [];
  return [
    fieldError.invalid(
      path('spec', 'healthCheckNodePort'),
      port,
      'cannot change healthCheckNodePort on loadBalancer service with externalTraffic=Local during update',
    ),
  ];
}

/** All keys that a service holds. */
function keysOf(spec: ServiceSpec): string[] {
  const ips = (spec.clusterIPs ?? []).filter((ip) => ip !== headless);
  const ports = (spec.ports ?? []).map(({ nodePort }) => nodePort ?? 0);
  return [
    ...(needsClusterIp(spec) ? ips.map(ipKey) : []),
    ...[...ports, spec.healthCheckNodePort ?? 0].filter((port) => port > 0).map(portKey),
  ];
}

type Taken = (key: string) => boolean;

function allocateIps(
  spec: ServiceSpec,
  context: AllocationContext,
  isClaimed: Taken,
): FieldError[] {
  if (context.dryRun) return [];
  const errors: FieldError[] = [];
  const requested = spec.clusterIPs ?? [];
  const ips: string[] = [];
  for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
    const range = rangeOf(context, family);
    const ip = requested[index];
    if (ip === undefined) ips.push(freeIp(range, context, isClaimed));
    else {
      ips.push(ip);
      const problem = ipProblem(ip, range, isClaimed);
      if (problem === undefined) continue;
      errors.push(
        fieldError.invalid(
          path('spec', 'clusterIPs'),
          stringList(requested),
          `failed to allocated ip:${ip} with error:${problem}`,
        ),
      );
    }
  }
  spec.clusterIPs = ips;
  spec.clusterIP = ips[0];
  return errors;
}

function rangeOf(context: AllocationContext, family: string): string {
  const range = context.settings.serviceClusterIpRanges.find((cidr) => familyOf(cidr) === family);
  if (range === undefined) throw internalError(`no service range for ${family}`);
  return range;
}

function ipProblem(ip: string, range: string, isClaimed: Taken): string | undefined {
  if (!contains(range, ip)) {
    return `provided IP is not in the valid range. The range of valid IPs is ${range}`;
  }
  return isClaimed(ipKey(ip)) ? 'provided IP is already allocated' : undefined;
}

/**
 * Reports whether the address is in the range and can be allocated: not the first one, and for IPv4
 * not the last.
 */
function contains(range: string, ip: string): boolean {
  const [network = '', length = ''] = range.split('/');
  const family = isIPv4(network) ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, Number(length), family);
  if (familyOf(ip) !== familyOf(network) || !list.check(ip, family)) return false;
  if (ip === network) return false;
  return family === 'ipv6' || ip !== addressAt(range, addressCount(range) + 1);
}

function freeIp(range: string, context: AllocationContext, isClaimed: Taken): string {
  const count = addressCount(range);
  const offset = firstFree(count, context.random, (index) =>
    isClaimed(ipKey(addressAt(range, index + 1))),
  );
  if (offset === undefined) {
    throw internalError('failed to allocate a serviceIP: range is full');
  }
  return addressAt(range, offset + 1);
}

/** A random free index below `count`; undefined if none was found. */
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

function allocatePorts(
  spec: ServiceSpec,
  context: AllocationContext,
  isClaimed: Taken,
): FieldError[] {
  const errors: FieldError[] = [];
  const chosen = new Set<number>();
  const { from, to } = context.settings.serviceNodePortRange;
  const check = (port: number, fieldPath: FieldPath) => {
    chosen.add(port);
    if ((port < from || port > to) && !context.dryRun) {
      const detail = `provided port is not in the valid range. The range of valid ports is ${from}-${to}`;
      errors.push(fieldError.invalid(fieldPath, port, detail));
    } else if (isClaimed(portKey(port))) {
      errors.push(fieldError.invalid(fieldPath, port, 'provided port is already allocated'));
    }
  };
  const choose = () => {
    const random = context.dryRun ? () => 0 : context.random;
    const index = firstFree(to - from + 1, random, (offset) => {
      const port = from + offset;
      return chosen.has(port) || (!context.dryRun && isClaimed(portKey(port)));
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

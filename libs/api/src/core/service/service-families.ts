/**
 * Defaults the IP families of a service from its other fields and from the families of the cluster.
 * A headless service without a selector may use families that the cluster does not have, because
 * its addresses are not allocated.
 */
import { type FieldError, fieldError, path } from '@orch/apimachinery';
import type { ServiceSpec } from '@orch/types/core/v1';
import {
  familyOf,
  hasSelector,
  headless,
  type IpFamily,
  isHeadless,
  needsClusterIp,
} from './service-types.js';

function other(family: string | undefined): IpFamily {
  return family === 'IPv4' ? 'IPv6' : 'IPv4';
}

/** Mutates `spec`. `clusterFamilies`: the families of the service ranges, the default first. */
export function setFamilies(
  spec: ServiceSpec,
  clusterFamilies: readonly IpFamily[],
): readonly FieldError[] {
  if (!needsClusterIp(spec)) return [];
  const [clusterDefault = 'IPv4'] = clusterFamilies;
  const isFree = isHeadless(spec) && !hasSelector(spec);
  const given = (spec.clusterIPs ?? []).filter((ip) => ip !== headless);
  spec.ipFamilies ??= [];
  for (const [index, ip] of given.entries()) spec.ipFamilies[index] ??= familyOf(ip);
  if (isFree) {
    spec.ipFamilyPolicy ??= 'RequireDualStack';
  } else spec.ipFamilyPolicy ??= spec.ipFamilies.length > 1 ? 'RequireDualStack' : 'SingleStack';
  const errors = isFree ? [] : familyErrors(spec, clusterFamilies);
  if (errors.length > 0) return errors;
  if (spec.ipFamilies.length === 0) spec.ipFamilies = [clusterDefault];
  const mayBeDual = isFree || clusterFamilies.length > 1;
  if (spec.ipFamilyPolicy !== 'SingleStack' && spec.ipFamilies.length === 1 && mayBeDual) {
    spec.ipFamilies = [...spec.ipFamilies, other(spec.ipFamilies[0])];
  }
  return [];
}

function familyErrors(spec: ServiceSpec, clusterFamilies: readonly IpFamily[]): FieldError[] {
  const errors: FieldError[] = [];
  const families = spec.ipFamilies ?? [];
  const fieldPath = path('spec', 'ipFamilyPolicy');
  if (spec.ipFamilyPolicy === 'SingleStack' && families.length > 1) {
    errors.push(
      fieldError.invalid(
        fieldPath,
        spec.ipFamilyPolicy,
        "must be RequireDualStack or PreferDualStack when multiple 'ipFamilies' are specified",
      ),
    );
  }
  if (spec.ipFamilyPolicy === 'RequireDualStack' && clusterFamilies.length < 2) {
    errors.push(
      fieldError.invalid(
        fieldPath,
        spec.ipFamilyPolicy,
        'Cluster is not configured for dual stack services',
      ),
    );
  }
  for (const [index, family] of families.entries()) {
    if (clusterFamilies.some((known) => known === family)) continue;
    errors.push(
      fieldError.invalid(
        path('spec', 'ipFamilies').index(index),
        families,
        `ipfamily ${family} is not configured on cluster`,
      ),
    );
  }
  return errors;
}

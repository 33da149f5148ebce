/** Validates nodes. */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  isCidr,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { Node } from '@orch/types/core/v1';
import { validateTaints } from '../placement/taint-validation.js';
import { validateAmount } from '../resources/resource-rules.js';
import { validateNodeAnnotations } from './node-annotations.js';
import { validateConfigSource } from './node-config-source.js';

export function validateNode(object: Node): FieldError[] {
  return [
    ...validateNodeAnnotations(object.metadata?.annotations),
    ...validateTaints(object.spec?.taints ?? [], taintsAt),
    ...validateNodeResources(object),
    ...validatePodCidrs(object.spec?.podCIDRs ?? [], path('spec', 'podCIDRs')),
  ];
}

/** Validates capacity and allocatable resources. */
function validateNodeResources(object: Node): FieldError[] {
  return (['capacity', 'allocatable'] as const).flatMap((field) =>
    Object.entries(object.status?.[field] ?? {}).flatMap(([name, amount]) =>
      validateAmount(name, amount, path('status', field, name)),
    ),
  );
}

/** Errors name taints as if they were in the metadata. */
const taintsAt = path('metadata', 'taints');

function validatePodCidrs(cidrs: readonly string[], fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, cidr] of cidrs.entries()) {
    if (!isCidr(cidr)) {
      errors.push(fieldError.invalid(fieldPath.index(index), cidrs, 'must be valid CIDR'));
    }
  }
  if (cidrs.length < 2) return errors;
  const invalid = cidrs.find((cidr) => !isCidr(cidr));
  if (invalid !== undefined) {
    const detail = `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR address: ${invalid}`;
    errors.push(fieldError.internal(fieldPath, detail));
  }
  if (invalid !== undefined || cidrs.length > 2 || sameFamily(cidrs[0], cidrs[1])) {
    errors.push(
      fieldError.invalid(fieldPath, cidrs, 'may specify no more than one CIDR for each IP family'),
    );
  }
  for (const [index, cidr] of cidrs.entries()) {
    if (cidrs.indexOf(cidr) < index)
      errors.push(fieldError.duplicate(fieldPath.index(index), cidr));
  }
  return errors;
}

function sameFamily(a = '', b = ''): boolean {
  return a.includes(':') === b.includes(':');
}

export function validateNodeUpdate(object: Node, old: Node): FieldError[] {
  const errors: FieldError[] = [
    ...validateNodeAnnotations(object.metadata?.annotations),
    ...validateNodeResources(object),
    ...validateAddresses(object),
  ];
  const oldCidrs = old.spec?.podCIDRs ?? [];
  if (oldCidrs.length > 0 && !semanticallyEqual(object.spec?.podCIDRs, oldCidrs)) {
    errors.push(
      fieldError.forbidden(
        path('spec', 'podCIDRs'),
        'node updates may not change podCIDR except from "" to valid',
      ),
    );
  }
  if (old.spec?.providerID && object.spec?.providerID !== old.spec.providerID) {
    errors.push(
      fieldError.forbidden(
        path('spec', 'providerID'),
        'node updates may not change providerID except from "" to valid',
      ),
    );
  }
  errors.push(
    ...validateConfigSource(object),
    ...validateTaints(object.spec?.taints ?? [], taintsAt),
  );
  if ((object.spec?.externalID ?? '') !== (old.spec?.externalID ?? '')) {
    errors.push(fieldError.forbidden(path('spec', 'externalID'), 'may not be updated'));
  }
  return errors;
}

function validateAddresses(object: Node): FieldError[] {
  const seen = new Set<string>();
  return (object.status?.addresses ?? []).flatMap((address, index) => {
    const id = `${address.type} ${address.address}`;
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    return [fieldError.duplicate(path('status', 'addresses').index(index), address)];
  });
}

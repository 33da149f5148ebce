/** Validates resource names and quantities: limits and requests, quotas, capacity, divisors. */
import {
  checkQualifiedName,
  type FieldError,
  type FieldPath,
  fieldError,
  Quantity,
  QuantityError,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { ResourceFieldSelector, ResourceRequirements } from '@orch/types/core/v1';
import { invalidEach, notNegative } from '../../shared/rules.js';

type ResourceList = Readonly<Record<string, string>>;

const nanosOfUnit = 10n ** 9n;
const hugePagesPrefix = 'hugepages-';
const quotaPrefix = 'requests.';

/** Resources that are whole numbers. */
const integerNames: ReadonlySet<string> = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

const standardNames: ReadonlySet<string> = new Set([
  ...integerNames,
  'cpu',
  'memory',
  'ephemeral-storage',
  'storage',
  ...['cpu', 'memory', 'storage', 'ephemeral-storage'].map((name) => `${quotaPrefix}${name}`),
  ...['cpu', 'memory', 'ephemeral-storage'].map((name) => `limits.${name}`),
]);

const standardContainerNames: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

function isHugePages(name: string): boolean {
  return name.startsWith(hugePagesPrefix);
}

/** Native resources: without a domain, or in the domain of the interface. */
function isNative(name: string): boolean {
  return !name.includes('/') || name.includes(`${dialect().keyDomain}/`);
}

/** Extended resources, such as devices. */
export function isExtended(name: string): boolean {
  if (isNative(name) || name.startsWith(quotaPrefix)) return false;
  return checkQualifiedName(`${quotaPrefix}${name}`).length === 0;
}

/** Reports whether the limit may exceed the request. */
export function mayOvercommit(name: string): boolean {
  return isNative(name) && !isHugePages(name);
}

/** Names that any resource list may hold: standard and qualified ones. */
export function validateResourceName(name: string, fieldPath: FieldPath): FieldError[] {
  const errors = invalidEach(fieldPath, name, checkQualifiedName(name));
  if (errors.length > 0 || name.includes('/')) return errors;
  if (!standardNames.has(name) && !isHugePagesOrQuota(name)) {
    errors.push(
      fieldError.invalid(fieldPath, name, 'must be a standard resource type or fully qualified'),
    );
  }
  return errors;
}

function isHugePagesOrQuota(name: string): boolean {
  return isHugePages(name) || name.startsWith(`${quotaPrefix}${hugePagesPrefix}`);
}

export function validateContainerResourceName(name: string, fieldPath: FieldPath): FieldError[] {
  const errors = validateResourceName(name, fieldPath);
  if (!name.includes('/')) {
    if (!standardContainerNames.has(name) && !isHugePages(name)) {
      errors.push(
        fieldError.invalid(fieldPath, name, 'must be a standard resource for containers'),
      );
    }
  } else if (!isNative(name) && !isExtended(name)) {
    errors.push(
      fieldError.invalid(fieldPath, name, "doesn't follow extended resource name standard"),
    );
  }
  return errors;
}

/** Resources that quotas count for claims. */
export function isStandardQuotaName(name: string): boolean {
  return (standardNames.has(name) && name !== 'storage') || isHugePagesOrQuota(name);
}

export function validateQuotaResourceName(name: string, fieldPath: FieldPath): FieldError[] {
  const errors = validateResourceName(name, fieldPath);
  if (!name.includes('/') && !isStandardQuotaName(name)) {
    errors.push(fieldError.invalid(fieldPath, name, 'must be a standard resource for quota'));
  }
  return errors;
}

/** A quantity must not be negative, and must be whole if the resource is an integer. */
export function validateAmount(name: string, text: string, fieldPath: FieldPath): FieldError[] {
  const amount = Quantity.parse(text);
  const errors: FieldError[] = [];
  if (amount.nanos < 0n) errors.push(fieldError.invalid(fieldPath, amount.toString(), notNegative));
  if ((integerNames.has(name) || isExtended(name)) && amount.nanos % nanosOfUnit !== 0n) {
    errors.push(fieldError.invalid(fieldPath, amount.toString(), 'must be an integer'));
  }
  return errors;
}

/** Huge pages must be a multiple of the page size. */
function validatePageMultiple(name: string, text: string, fieldPath: FieldPath): FieldError[] {
  if (!isHugePages(name)) return [];
  const pageSize = name.slice(hugePagesPrefix.length);
  const page = parsePageSize(pageSize);
  const amount = Quantity.parse(text);
  return page === undefined || amount.nanos % page.nanos !== 0n
    ? [
        fieldError.invalid(
          fieldPath,
          amount.toString(),
          `${amount.toString()} is not positive integer multiple of ${name}`,
        ),
      ]
    : [];
}

/** Undefined if the name does not end in a page size. */
function parsePageSize(text: string): Quantity | undefined {
  try {
    const size = Quantity.parse(text);
    return size.nanos > 0n ? size : undefined;
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

function validateResourceList(list: ResourceList, fieldPath: FieldPath): FieldError[] {
  return Object.entries(list).flatMap(([name, text]) => [
    ...validateContainerResourceName(name, fieldPath.key(name)),
    ...validateAmount(name, text, fieldPath.key(name)),
    ...validatePageMultiple(name, text, fieldPath.key(name)),
  ]);
}

/** Validates limits and requests of a container, or the overhead of a pod as limits. */
export function validateResourceRequirements(
  requirements: ResourceRequirements,
  fieldPath: FieldPath,
): FieldError[] {
  const limits = requirements.limits ?? {};
  const requests = requirements.requests ?? {};
  const errors = validateResourceList(limits, fieldPath.child('limits'));
  for (const [name, text] of Object.entries(requests)) {
    const field = fieldPath.child('requests');
    errors.push(...validateResourceList({ [name]: text }, field));
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    errors.push(...validateAgainstLimit(name, text, limit, fieldPath));
  }
  const names = new Set([...Object.keys(limits), ...Object.keys(requests)]);
  const hasHugePages = [...names].some(isHugePages);
  if (hasHugePages && !names.has('cpu') && !names.has('memory')) {
    errors.push(fieldError.forbidden(fieldPath, 'HugePages require cpu or memory'));
  }
  return errors;
}

function validateAgainstLimit(
  name: string,
  text: string,
  limitText: string | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const field = fieldPath.child('requests');
  if (limitText === undefined) {
    return mayOvercommit(name)
      ? []
      : [
          fieldError.required(
            fieldPath.child('limits'),
            'Limit must be set for non overcommitable resources',
          ),
        ];
  }
  const amount = Quantity.parse(text);
  const order = amount.compare(Quantity.parse(limitText));
  if (order !== 0 && !mayOvercommit(name)) {
    return [fieldError.invalid(field, amount.toString(), `must be equal to ${name} limit`)];
  }
  return order > 0
    ? [fieldError.invalid(field, amount.toString(), `must be less than or equal to ${name} limit`)]
    : [];
}

const cpuDivisors = ['1m', '1'];
const byteDivisors = [
  ...['1', '1k', '1M', '1G', '1T', '1P', '1E'],
  ...['1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'],
];

/** Divisors are powers of the unit; zero and absent mean the default. */
export function validateDivisor(
  reference: ResourceFieldSelector,
  fieldPath: FieldPath,
): FieldError[] {
  const { divisor, resource } = reference;
  if (divisor === undefined || Quantity.parse(divisor).isZero) return [];
  const isCpu = resource.endsWith('.cpu');
  const divisors = isCpu ? cpuDivisors : byteDivisors;
  if (divisors.includes(Quantity.parse(divisor).toString())) return [];
  const kind = isCpu ? 'cpu' : resource.endsWith('.memory') ? 'memory' : 'local ephemeral storage';
  const listed = isCpu ? '1m and 1' : byteDivisors.join(', ');
  return [
    fieldError.invalid(
      fieldPath,
      resource,
      `only divisor's values ${listed} are supported with the ${kind} resource`,
    ),
  ];
}

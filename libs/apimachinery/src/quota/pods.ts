/**
 * Quota usage of pods: the number, and the requests and limits of their containers until they
 * terminate. Pure.
 */
import { dialect } from '@orch/component';
import type { Container, Pod, ScopedResourceSelectorRequirement } from '@orch/types/core/v1';
import type { Quantity } from '../quantity/quantity.js';
import { parseTime } from '../time/time.js';
import { type Amounts, addAmounts, amountsOf, largerAmounts, unitAmount } from './amounts.js';
import type { QuotaEvaluator } from './evaluator.js';

const counted = ['cpu', 'memory', 'ephemeral-storage'];
/** If a quota counts one of these, every container must specify it. */
const requiredResources: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);
const names: ReadonlySet<string> = new Set([
  'count/pods',
  'pods',
  ...counted.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);
const pagePrefixes = ['hugepages-', 'requests.hugepages-'];

/** Resources outside the platform's domain. */
function isForeign(name: string): boolean {
  return name.includes('/') && !name.includes(`${dialect().keyDomain}/`);
}

function isCounted(name: string): boolean {
  return (
    names.has(name) ||
    pagePrefixes.some((prefix) => name.startsWith(prefix)) ||
    (name.startsWith('requests.') && isForeign(name))
  );
}

/** Requests and limits under their quota names. */
function namedUsage(requests: Amounts, limits: Amounts): Map<string, Quantity> {
  const usage = new Map([['pods', unitAmount]]);
  for (const [name, amount] of requests) {
    const isOwn = counted.includes(name) || name.startsWith('hugepages-');
    if (isOwn) usage.set(name, amount);
    if (isOwn || isForeign(name)) usage.set(`requests.${name}`, amount);
  }
  for (const name of counted) {
    const amount = limits.get(name);
    if (amount) usage.set(`limits.${name}`, amount);
  }
  return usage;
}

/** Containers run together, init containers sequentially before them. */
function total({ spec }: Pod, field: 'requests' | 'limits'): Amounts {
  const of = ({ resources }: Container) => amountsOf(resources?.[field]);
  const together = (spec?.containers ?? []).map(of).reduce(addAmounts, new Map());
  const most = (spec?.initContainers ?? []).map(of).reduce(largerAmounts, together);
  return addAmounts(most, amountsOf(spec?.overhead));
}

/** A terminated pod uses nothing. A pod on a lost node stops counting after its grace period. */
function isLive({ metadata, status }: Pod, nowMs: number): boolean {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata ?? {};
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return true;
  const deletedMs = parseTime(deletionTimestamp) ?? nowMs;
  return nowMs <= deletedMs + deletionGracePeriodSeconds * 1_000;
}

const containersOf = ({ spec }: Pod): Container[] => [
  ...(spec?.containers ?? []),
  ...(spec?.initContainers ?? []),
];

function isBestEffort(pod: Pod): boolean {
  return containersOf(pod).every(({ resources }) =>
    [amountsOf(resources?.requests), amountsOf(resources?.limits)].every((amounts) =>
      ['cpu', 'memory'].every((name) => amounts.get(name)?.isZero ?? true),
    ),
  );
}

function matchesClass(
  { operator, values = [] }: ScopedResourceSelectorRequirement,
  className: string | undefined,
): boolean {
  const has = Boolean(className);
  switch (operator) {
    case 'In':
      return has && values.includes(className!);
    case 'NotIn':
      return !has || !values.includes(className!);
    case 'Exists':
      return has;
    case 'DoesNotExist':
      return !has;
    default:
      return false;
  }
}

export const podEvaluator: QuotaEvaluator<Pod> = {
  countedNames: (all) => all.filter(isCounted),
  usage(pod, nowMs) {
    const usage = new Map([['count/pods', unitAmount]]);
    if (!isLive(pod, nowMs)) return usage;
    return addAmounts(usage, namedUsage(total(pod, 'requests'), total(pod, 'limits')));
  },
  missingResources(all, pod) {
    const required = all.filter((name) => requiredResources.has(name));
    const missing = containersOf(pod).flatMap(({ resources }) => {
      const specified = namedUsage(amountsOf(resources?.requests), amountsOf(resources?.limits));
      return required.filter((name) => !specified.has(name));
    });
    return [...new Set(missing)].sort();
  },
  matches(scope, pod) {
    const ends = pod.spec?.activeDeadlineSeconds !== undefined;
    switch (scope.scopeName) {
      case 'Terminating':
        return ends;
      case 'NotTerminating':
        return !ends;
      case 'BestEffort':
        return isBestEffort(pod);
      case 'NotBestEffort':
        return !isBestEffort(pod);
      case 'PriorityClass':
        return matchesClass(scope, pod.spec?.priorityClassName);
      default:
        return false;
    }
  },
  changesWithUpdates: false,
  countsOnly: false,
};

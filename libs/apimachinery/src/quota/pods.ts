/** Pods count by number and by what their containers request and may take, as long as they live. Pure. */
import { dialect } from '@orch/component';
import type { Container, Pod, ScopedResourceSelectorRequirement } from '@orch/types/core/v1';
import type { Quantity } from '../quantity/quantity.js';
import { parseTime } from '../time/time.js';
import { type Amounts, addAmounts, amountsOf, largerAmounts, one } from './amounts.js';
import type { QuotaEvaluator } from './evaluator.js';

const counted = ['cpu', 'memory', 'ephemeral-storage'];
/** Of these every container must say how much, when a quota counts them. */
const mustBeSaid: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);
const names: ReadonlySet<string> = new Set([
  'count/pods',
  'pods',
  ...counted.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);
const pagePrefixes = ['hugepages-', 'requests.hugepages-'];

/** Resources that are not the platform's own. */
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

/** Requests and limits by the names that quotas give them. */
function namedUsage(requests: Amounts, limits: Amounts): Map<string, Quantity> {
  const usage = new Map([['pods', one]]);
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

/** Containers run together, those that prepare the pod one by one before. */
function total({ spec }: Pod, field: 'requests' | 'limits'): Amounts {
  const of = ({ resources }: Container) => amountsOf(resources?.[field]);
  const together = (spec?.containers ?? []).map(of).reduce(addAmounts, new Map());
  const most = (spec?.initContainers ?? []).map(of).reduce(largerAmounts, together);
  return addAmounts(most, amountsOf(spec?.overhead));
}

/** One that has ended takes nothing, and one whose node is lost does not stand in the way for ever. */
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

export const podEvaluator: QuotaEvaluator = {
  countedNames: (all) => all.filter(isCounted),
  usage(object, nowMs) {
    const pod = object as Pod;
    const usage = new Map([['count/pods', one]]);
    if (!isLive(pod, nowMs)) return usage;
    return addAmounts(usage, namedUsage(total(pod, 'requests'), total(pod, 'limits')));
  },
  unsaid(all, object) {
    const wanted = all.filter((name) => mustBeSaid.has(name));
    const missing = containersOf(object as Pod).flatMap(({ resources }) => {
      const said = namedUsage(amountsOf(resources?.requests), amountsOf(resources?.limits));
      return wanted.filter((name) => !said.has(name));
    });
    return [...new Set(missing)].sort();
  },
  matches(scope, object) {
    const pod = object as Pod;
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

/** The evaluator of each resource that quotas count. Pure. */
import { type Amounts, unitAmount } from './amounts.js';
import { claimEvaluator } from './claims.js';
import type { QuotaEvaluator } from './evaluator.js';
import { podEvaluator } from './pods.js';
import { serviceEvaluator } from './services.js';

/** Group on the wire, empty for the core group, and plural. */
export interface CountedResource {
  readonly group: string;
  readonly resource: string;
}

/** The quota resource for the number of objects, such as `count/deployments.apps`. */
export function countName({ group, resource }: CountedResource): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`;
}

/** Resources whose number also has a short name. */
const olderNames: ReadonlySet<string> = new Set([
  'configmaps',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
]);

function numberEvaluator(names: readonly string[]): QuotaEvaluator {
  const usage: Amounts = new Map(names.map((name) => [name, unitAmount]));
  return {
    countedNames: (all) => all.filter((name) => usage.has(name)),
    usage: () => usage,
    missingResources: () => [],
    matches: () => false,
    changesWithUpdates: false,
    countsOnly: true,
  };
}

const ofCore: Readonly<Record<string, QuotaEvaluator>> = {
  pods: podEvaluator,
  services: serviceEvaluator,
  persistentvolumeclaims: claimEvaluator,
};

/** `resources`: all names of one kind, which may be served in several groups. */
export function quotaEvaluator(resources: readonly CountedResource[]): QuotaEvaluator {
  const ofGroup = resources.find(({ group }) => group === '')?.resource ?? '';
  const special = Object.hasOwn(ofCore, ofGroup) ? ofCore[ofGroup] : undefined;
  if (special) return special;
  return numberEvaluator([
    ...resources.map(countName),
    ...(olderNames.has(ofGroup) ? [ofGroup] : []),
  ]);
}

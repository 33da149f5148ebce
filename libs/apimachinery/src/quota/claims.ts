/**
 * Quota usage of persistent volume claims: the number and the requested storage, in total and per
 * storage class. Pure.
 */
import { dialect } from '@orch/component';
import type { PersistentVolumeClaim } from '@orch/types/core/v1';
import { Quantity } from '../quantity/quantity.js';
import { storageClassName } from '../volumes/bindings.js';
import { unitAmount } from './amounts.js';
import type { QuotaEvaluator } from './evaluator.js';

const names = ['count/persistentvolumeclaims', 'persistentvolumeclaims', 'requests.storage'];

/** `gold.storageclass.storage.<domain>/requests.storage`: the quota resource of one class. */
const classInfix = () => `.storageclass.${dialect().group('storage')}/`;

export const claimEvaluator: QuotaEvaluator<PersistentVolumeClaim> = {
  countedNames(all) {
    const ofClasses = names.map((name) => classInfix() + name);
    return all.filter(
      (name) => names.includes(name) || ofClasses.some((ending) => name.endsWith(ending)),
    );
  },
  usage(claim) {
    const storage = claim.spec?.resources?.requests?.storage;
    const className = storageClassName(claim);
    const usage = new Map<string, Quantity>([
      ['count/persistentvolumeclaims', unitAmount],
      ['persistentvolumeclaims', unitAmount],
    ]);
    if (storage !== undefined) usage.set('requests.storage', Quantity.parse(storage));
    if (className === '') return usage;
    for (const name of ['persistentvolumeclaims', 'requests.storage']) {
      const amount = usage.get(name);
      if (amount) usage.set(className + classInfix() + name, amount);
    }
    return usage;
  },
  missingResources: () => [],
  matches: () => false,
  changesWithUpdates: true,
  countsOnly: false,
};

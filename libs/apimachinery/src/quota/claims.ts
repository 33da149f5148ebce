/** Claims count by number and by the storage they request, in all and for their class. Pure. */
import { dialect } from '@orch/component';
import type { PersistentVolumeClaim } from '@orch/types/core/v1';
import { Quantity } from '../quantity/quantity.js';
import { one } from './amounts.js';
import type { QuotaEvaluator } from './evaluator.js';

const names = ['count/persistentvolumeclaims', 'persistentvolumeclaims', 'requests.storage'];

/** `gold.storageclass.storage.<domain>/requests.storage`: what is counted for one class. */
const classInfix = () => `.storageclass.${dialect().group('storage')}/`;

/** The annotation of before the field goes first. */
function classOf({ metadata, spec }: PersistentVolumeClaim): string {
  const key = dialect().key('storage-class', 'volume.beta');
  return metadata?.annotations?.[key] ?? spec?.storageClassName ?? '';
}

export const claimEvaluator: QuotaEvaluator = {
  countedNames(all) {
    const ofClasses = names.map((name) => classInfix() + name);
    return all.filter(
      (name) => names.includes(name) || ofClasses.some((ending) => name.endsWith(ending)),
    );
  },
  usage(object) {
    const claim = object as PersistentVolumeClaim;
    const storage = claim.spec?.resources?.requests?.storage;
    const className = classOf(claim);
    const usage = new Map<string, Quantity>([
      ['count/persistentvolumeclaims', one],
      ['persistentvolumeclaims', one],
    ]);
    if (storage !== undefined) usage.set('requests.storage', Quantity.parse(storage));
    if (className === '') return usage;
    for (const name of ['persistentvolumeclaims', 'requests.storage']) {
      const amount = usage.get(name);
      if (amount) usage.set(className + classInfix() + name, amount);
    }
    return usage;
  },
  unsaid: () => [],
  matches: () => false,
  changesWithUpdates: true,
  countsOnly: false,
};

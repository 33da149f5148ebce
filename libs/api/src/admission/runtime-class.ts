/**
 * A pod may name a runtime class, which then says what the pod costs beyond its containers. There are no
 * runtime classes in this server, so that a pod that names one, or says the cost itself, is refused.
 */
import { forbiddenObject, type StatusError } from '@orch/apimachinery';
import type { Pod } from '@orch/types/core/v1';
import { type AdmissionRule, type AdmissionTarget, isWriteOf } from './admission-rule.js';

function refuse(target: AdmissionTarget, cause: string): StatusError {
  return forbiddenObject({ group: '', resource: 'pods' }, target.name, `pod rejected: ${cause}`);
}

export const runtimeClassRule: AdmissionRule = {
  name: 'RuntimeClass',

  mutate(target) {
    if (!isWriteOf(target, 'core', 'pods', ['CREATE'])) return;
    const name = (target.object as Pod).spec?.runtimeClassName;
    if (name === undefined) return;
    throw refuse(target, `RuntimeClass ${JSON.stringify(name)} not found`);
  },

  validate(target) {
    if (!isWriteOf(target, 'core', 'pods', ['CREATE'])) return;
    if ((target.object as Pod).spec?.overhead === undefined) return;
    throw refuse(target, 'Pod Overhead set without corresponding RuntimeClass defined Overhead');
  },
};

/** Nothing is written or deleted in a namespace that is not there. */
import { notFound } from '@orch/apimachinery';
import type { AdmissionContext, AdmissionRule, AdmissionTarget } from '../admission-rule.js';

export const namespaceExistsRule: AdmissionRule = {
  name: 'NamespaceExists',
  async validate({ namespace, plural }: AdmissionTarget, { reader }: AdmissionContext) {
    if (namespace === '' || plural === 'namespaces') return;
    if (await reader.get('core', 'namespaces', '', namespace)) return;
    throw notFound({ group: '', resource: 'namespaces' }, namespace);
  },
};

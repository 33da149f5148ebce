/** Rejects writes and deletes in namespaces that do not exist. */
import { notFound } from '@orch/apimachinery';
import type { AdmissionContext, AdmissionRule, AdmissionTarget } from '../rule.js';

export const namespaceExists: AdmissionRule = {
  name: 'NamespaceExists',
  isDefault: false,
  operations: ['CREATE', 'UPDATE', 'DELETE'],

  async validate({ namespace, plural }: AdmissionTarget, { reader }: AdmissionContext) {
    if (namespace === '' || plural === 'namespaces') return;
    if (await reader.get('core', 'namespaces', '', namespace)) return;
    throw notFound({ group: '', resource: 'namespaces' }, namespace);
  },
};

/** Shared parts of the two kinds of webhook configurations, which differ in their names only. */
import { semanticallyEqual } from '@orch/apimachinery';
import type { ObjectMeta } from '@orch/types/meta/v1';
import type { ApiObject, ResourceDefinition } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { countGeneration } from '../shared/generation.js';
import { validateWebhooks, type Webhook } from './webhook-validation.js';

interface WebhookConfiguration extends ApiObject {
  metadata?: ObjectMeta;
  webhooks?: Webhook[];
}

export function webhookConfigurationOf<T extends WebhookConfiguration>(
  kind: string,
): ResourceDefinition<T> {
  return {
    plural: `${kind.toLowerCase()}s`,
    singular: '',
    kind,
    categories: ['api-extensions'],
    namespaced: false,
    versions: [
      { group: 'admissionregistration', version: 'v1' },
      {
        group: 'admissionregistration',
        version: 'v1beta1',
        deprecation: {
          since: '1.16',
          unavailableFrom: '1.22',
          use: { group: 'admissionregistration', version: 'v1', kind },
        },
      },
    ],
    stored: { group: 'admissionregistration', version: 'v1' },
    strictFinalizers: false,
    updateChecks: ['metadata', 'update'],
    hasGeneration: true,
    unconditionalUpdate: false,
    prepareForUpdate(object, old) {
      if (!semanticallyEqual(object.webhooks ?? [], old.webhooks ?? [])) countGeneration(object);
    },
    validateCreate: (object, context) => validateWebhooks(object.webhooks, context),
    validateUpdate: (object, old, context) =>
      validateWebhooks(object.webhooks, context, old.webhooks ?? []),
    columns: [
      nameColumn(),
      {
        name: 'Webhooks',
        type: 'integer',
        description: 'Number of webhooks.',
        cell: (object) => object.webhooks?.length ?? 0,
      },
      ageColumn(),
    ],
  };
}

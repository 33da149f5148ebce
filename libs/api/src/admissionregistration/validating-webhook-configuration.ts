/** ValidatingWebhookConfiguration: webhooks that may reject objects before they are stored. */
import type { ValidatingWebhookConfiguration } from '@orch/types/admissionregistration/v1';
import { define } from '../definition.js';
import { webhookConfigurationOf } from './webhook-configuration.js';

export const validatingWebhookConfiguration = define(
  webhookConfigurationOf<ValidatingWebhookConfiguration>('ValidatingWebhookConfiguration'),
);

/** MutatingWebhookConfiguration: webhooks that may mutate objects before they are stored. */
import type { MutatingWebhookConfiguration } from '@orch/types/admissionregistration/v1';
import { define } from '../definition.js';
import { webhookConfigurationOf } from './webhook-configuration.js';

export const mutatingWebhookConfiguration = define(
  webhookConfigurationOf<MutatingWebhookConfiguration>('MutatingWebhookConfiguration'),
);

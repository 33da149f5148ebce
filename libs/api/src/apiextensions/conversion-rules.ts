/** Validates the conversion strategy of a definition. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { CustomResourceDefinitionSpec } from '@orch/types/apiextensions/v1beta1';
import { checkRequiredOneOf } from '../shared/rules.js';
import {
  hasKnownReviewVersion,
  validateReviewVersions,
  validateWebhookClient,
} from '../shared/webhook-client.js';

const notWebhook = 'should not be set when strategy is not set to Webhook';

export function conversionErrors(
  { conversion, preserveUnknownFields = true }: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  if (!conversion) return [];
  const { strategy, webhookClientConfig, conversionReviewVersions: versions = [] } = conversion;
  const errors: FieldError[] = [];
  if (strategy !== 'None' && preserveUnknownFields) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('strategy'),
        strategy,
        'must be None if spec.preserveUnknownFields is true',
      ),
    );
  }
  errors.push(...checkRequiredOneOf(strategy, ['None', 'Webhook'], fieldPath.child('strategy')));
  const clientAt = fieldPath.child('webhookClientConfig');
  const versionsAt = fieldPath.child('conversionReviewVersions');
  if (strategy !== 'Webhook') {
    if (webhookClientConfig) errors.push(fieldError.forbidden(clientAt, notWebhook));
    if (versions.length > 0) errors.push(fieldError.forbidden(versionsAt, notWebhook));
    return errors;
  }
  errors.push(
    ...(webhookClientConfig
      ? validateWebhookClient(webhookClientConfig, clientAt)
      : [fieldError.required(clientAt, 'required when strategy is set to Webhook')]),
  );
  if (versions.length === 0) return [...errors, fieldError.required(versionsAt)];
  const before = old?.conversion?.conversionReviewVersions ?? [];
  const needsKnown = before.length === 0 || hasKnownReviewVersion(before);
  return [...errors, ...validateReviewVersions(versions, needsKnown, versionsAt)];
}

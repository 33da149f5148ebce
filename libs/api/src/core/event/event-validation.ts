/**
 * Validates events. Events created through the stable version of the events group follow its rules;
 * all others follow the old rules, which only check more for events with an eventTime. Errors name
 * fields as in the stored shape.
 */
import {
  checkDns1123Subdomain,
  type FieldError,
  fieldError,
  path,
  semanticallyEqual,
  subdomainName,
  validateObjectMeta,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Event } from '@orch/types/core/v1';
import type { StrategyContext } from '../../definition.js';
import { checkQualified, invalidEach } from '../../shared/rules.js';

const shortTextLengthMax = 128;
const messageLengthMax = 1024;

function isStrict(context: StrategyContext): boolean {
  const version = context.requestVersion;
  return version?.group === 'events' && version.version === 'v1';
}

const metadataRules = { namespaced: true, validateName: subdomainName, strictFinalizers: true };

export function validateEventCreate(object: Event, context: StrategyContext): FieldError[] {
  const errors = validateEvent(object);
  if (!isStrict(context)) return errors;
  errors.push(...validateObjectMeta(object.metadata ?? {}, metadataRules));
  errors.push(...validateSeries(object));
  if (!object.eventTime) errors.push(fieldError.required(path('eventTime')));
  if (object.type !== 'Normal' && object.type !== 'Warning') {
    errors.push(fieldError.invalid(path('type'), '', `has invalid value: ${object.type ?? ''}`));
  }
  for (const field of ['firstTimestamp', 'lastTimestamp', 'count', 'source'] as const) {
    if (!semanticallyEqual(object[field] || {}, {})) {
      errors.push(fieldError.invalid(path(field), '', 'needs to be unset'));
    }
  }
  return errors;
}

function validateSeries(object: Event): FieldError[] {
  if (!object.series) return [];
  const errors: FieldError[] = [];
  if ((object.series.count ?? 0) < 2) {
    errors.push(fieldError.invalid(path('series', 'count'), '', 'should be at least 2'));
  }
  if (!object.series.lastObservedTime) {
    errors.push(fieldError.required(path('series', 'lastObservedTime')));
  }
  return errors;
}

/** The rules of every version, at creation and on update. */
export function validateEvent(object: Event): FieldError[] {
  const errors = object.eventTime ? validateNewEvent(object) : validateInvolved(object);
  const namespace = object.metadata?.namespace ?? '';
  errors.push(...invalidEach(path('namespace'), namespace, checkDns1123Subdomain(namespace)));
  return errors;
}

function validateInvolved(object: Event): FieldError[] {
  const namespace = object.metadata?.namespace ?? '';
  const involved = object.involvedObject?.namespace ?? '';
  const agrees =
    involved === '' ? namespace === '' || namespace === 'default' : involved === namespace;
  return agrees ? [] : [namespaceMismatch(involved)];
}

function namespaceMismatch(involved: string): FieldError {
  return fieldError.invalid(
    path('involvedObject', 'namespace'),
    involved,
    'does not match event.namespace',
  );
}

function validateNewEvent(object: Event): FieldError[] {
  const errors: FieldError[] = [];
  const namespace = object.metadata?.namespace ?? '';
  const involved = object.involvedObject?.namespace ?? '';
  if (involved === '' && namespace !== 'default' && namespace !== dialect().systemNamespace) {
    errors.push(namespaceMismatch(involved));
  }
  const controller = path('reportingController');
  if (!object.reportingComponent) errors.push(fieldError.required(controller));
  errors.push(...checkQualified(object.reportingComponent, controller));
  errors.push(...validateShortText('reportingInstance', object.reportingInstance));
  errors.push(...validateShortText('action', object.action));
  errors.push(...validateShortText('reason', object.reason));
  if (Buffer.byteLength(object.message ?? '') > messageLengthMax) {
    errors.push(tooManyCharacters('message', messageLengthMax));
  }
  return errors;
}

function validateShortText(field: string, text: string | undefined): FieldError[] {
  if (!text) return [fieldError.required(path(field))];
  return Buffer.byteLength(text) > shortTextLengthMax
    ? [tooManyCharacters(field, shortTextLengthMax)]
    : [];
}

function tooManyCharacters(field: string, lengthMax: number): FieldError {
  return fieldError.invalid(path(field), '', `can have at most ${lengthMax} characters`);
}

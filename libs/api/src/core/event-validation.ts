/**
 * Rules of events. Those written through the stable version of the events group are held to its rules;
 * all others to the old ones, which ask more only of events that carry an eventTime. Errors name fields
 * as the stored shape does.
 */
import {
  checkDns1123Subdomain,
  type FieldError,
  fieldError,
  immutable,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Event } from '@orch/types/core/v1';
import type { RequestContext } from '../definition.js';
import { checkQualified, invalidEach } from '../shared/rules.js';

const shortTextLengthMax = 128;
const messageLengthMax = 1024;

function isStrict(context: RequestContext): boolean {
  const version = context.requestVersion;
  return version?.group === 'events' && version.version === 'v1';
}

export function validateEventCreate(object: Event, context: RequestContext): FieldError[] {
  const errors = validateOldRules(object);
  if (!isStrict(context)) return errors;
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

export function validateEventUpdate(
  object: Event,
  old: Event,
  context: RequestContext,
): FieldError[] {
  const errors = validateOldRules(object);
  if (!isStrict(context)) return errors;
  errors.push(...validateSeries(object));
  for (const field of fixedFields) {
    if (!semanticallyEqual(object[field], old[field])) {
      errors.push(immutable(path(fixedFieldNames[field] ?? field), object[field] ?? ''));
    }
  }
  return errors;
}

const fixedFields = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
] as const;

const fixedFieldNames: Readonly<Record<string, string>> = {
  reportingComponent: 'reportingController',
};

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

function validateOldRules(object: Event): FieldError[] {
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

/** Validates probes and lifecycle handlers. */
import {
  checkHttpHeaderName,
  type FieldError,
  type FieldPath,
  fieldError,
} from '@orch/apimachinery';
import type { Container, Handler, HTTPGetAction, Probe } from '@orch/types/core/v1';
import { checkNotNegative, checkRequiredOneOf, invalidEach } from '../../shared/rules.js';
import { validatePort } from '../common/port-rules.js';

/** Upstream validates the startup probe twice. `validateReadinessProbe` validates the third one. */
export function validateLifeProbes(container: Container, fieldPath: FieldPath): FieldError[] {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  const livenessAt = fieldPath.child('livenessProbe');
  const startupAt = fieldPath.child('startupProbe');
  return [
    ...validateProbe(livenessProbe, livenessAt),
    ...validateNoGracePeriod(readinessProbe, fieldPath.child('readinessProbe')),
    ...validateProbe(startupProbe, startupAt),
    ...validateSingleSuccess(livenessProbe, livenessAt),
    ...validateProbe(startupProbe, startupAt),
    ...validateSingleSuccess(startupProbe, startupAt),
  ];
}

export function validateReadinessProbe(container: Container, fieldPath: FieldPath): FieldError[] {
  return validateProbe(container.readinessProbe, fieldPath.child('readinessProbe'));
}

/** A failed readiness probe ends no container. */
function validateNoGracePeriod(probe: Probe | undefined, fieldPath: FieldPath): FieldError[] {
  const seconds = probe?.terminationGracePeriodSeconds;
  if (seconds === undefined) return [];
  const field = fieldPath.child('terminationGracePeriodSeconds');
  return [fieldError.invalid(field, seconds, 'must not be set for readinessProbes')];
}

export function validateLifecycle(container: Container, fieldPath: FieldPath): FieldError[] {
  const { lifecycle } = container;
  const field = fieldPath.child('lifecycle');
  return [
    ...(lifecycle?.postStart ? validateHandler(lifecycle.postStart, field.child('postStart')) : []),
    ...(lifecycle?.preStop ? validateHandler(lifecycle.preStop, field.child('preStop')) : []),
  ];
}

function validateProbe(probe: Probe | undefined, fieldPath: FieldPath): FieldError[] {
  if (!probe) return [];
  return [
    ...validateHandler(probe, fieldPath),
    ...checkNotNegative(probe.initialDelaySeconds, fieldPath.child('initialDelaySeconds')),
    ...checkNotNegative(probe.timeoutSeconds, fieldPath.child('timeoutSeconds')),
    ...checkNotNegative(probe.periodSeconds, fieldPath.child('periodSeconds')),
    ...checkNotNegative(probe.successThreshold, fieldPath.child('successThreshold')),
    ...checkNotNegative(probe.failureThreshold, fieldPath.child('failureThreshold')),
  ];
}

function validateSingleSuccess(probe: Probe | undefined, fieldPath: FieldPath): FieldError[] {
  if (!probe || probe.successThreshold === undefined || probe.successThreshold === 1) return [];
  return [
    fieldError.invalid(fieldPath.child('successThreshold'), probe.successThreshold, 'must be 1'),
  ];
}

function validateHandler(handler: Handler, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  let handlerCount = 0;
  const take = (field: string, check: (fieldPath: FieldPath) => FieldError[]) => {
    if (handlerCount > 0) {
      errors.push(
        fieldError.forbidden(fieldPath.child(field), 'may not specify more than 1 handler type'),
      );
      return;
    }
    handlerCount += 1;
    errors.push(...check(fieldPath.child(field)));
  };
  const { exec, httpGet, tcpSocket } = handler;
  if (exec) {
    take('exec', (field) =>
      exec.command?.length ? [] : [fieldError.required(field.child('command'))],
    );
  }
  if (httpGet) take('httpGet', (field) => validateHttpGet(httpGet, field));
  if (tcpSocket) take('tcpSocket', (field) => validatePort(tcpSocket.port, field.child('port')));
  if (handlerCount === 0)
    errors.push(fieldError.required(fieldPath, 'must specify a handler type'));
  return errors;
}

function validateHttpGet(action: HTTPGetAction, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (!action.path) errors.push(fieldError.required(fieldPath.child('path')));
  errors.push(...validatePort(action.port, fieldPath.child('port')));
  errors.push(...checkRequiredOneOf(action.scheme, ['HTTP', 'HTTPS'], fieldPath.child('scheme')));
  for (const header of action.httpHeaders ?? []) {
    errors.push(
      ...invalidEach(fieldPath.child('httpHeaders'), header.name, checkHttpHeaderName(header.name)),
    );
  }
  return errors;
}

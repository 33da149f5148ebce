/** Rules of probes and lifecycle handlers. */
import {
  checkHttpHeaderName,
  checkPortName,
  checkPortNumber,
  type FieldError,
  type FieldPath,
  fieldError,
  type IntOrString,
} from '@orch/apimachinery';
import type { Container, Handler, HTTPGetAction, Probe } from '@orch/types/core/v1';
import { checkNotNegative, checkRequiredOneOf, invalidEach } from '../shared/rules.js';

export function validateProbes(container: Container, at: FieldPath): FieldError[] {
  return [
    ...validateProbe(container.livenessProbe, at.child('livenessProbe')),
    ...validateSingleSuccess(container.livenessProbe, at.child('livenessProbe')),
    ...validateProbe(container.readinessProbe, at.child('readinessProbe')),
    ...validateProbe(container.startupProbe, at.child('startupProbe')),
    ...validateSingleSuccess(container.startupProbe, at.child('startupProbe')),
  ];
}

export function validateLifecycle(container: Container, at: FieldPath): FieldError[] {
  const { lifecycle } = container;
  const field = at.child('lifecycle');
  return [
    ...(lifecycle?.postStart ? validateHandler(lifecycle.postStart, field.child('postStart')) : []),
    ...(lifecycle?.preStop ? validateHandler(lifecycle.preStop, field.child('preStop')) : []),
  ];
}

function validateProbe(probe: Probe | undefined, at: FieldPath): FieldError[] {
  if (!probe) return [];
  return [
    ...validateHandler(probe, at),
    ...checkNotNegative(probe.initialDelaySeconds, at.child('initialDelaySeconds')),
    ...checkNotNegative(probe.timeoutSeconds, at.child('timeoutSeconds')),
    ...checkNotNegative(probe.periodSeconds, at.child('periodSeconds')),
    ...checkNotNegative(probe.successThreshold, at.child('successThreshold')),
    ...checkNotNegative(probe.failureThreshold, at.child('failureThreshold')),
  ];
}

function validateSingleSuccess(probe: Probe | undefined, at: FieldPath): FieldError[] {
  if (!probe || probe.successThreshold === undefined || probe.successThreshold === 1) return [];
  return [fieldError.invalid(at.child('successThreshold'), probe.successThreshold, 'must be 1')];
}

function validateHandler(handler: Handler, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  let handlerCount = 0;
  const take = (field: string, check: (at: FieldPath) => FieldError[]) => {
    if (handlerCount > 0) {
      errors.push(
        fieldError.forbidden(at.child(field), 'may not specify more than 1 handler type'),
      );
      return;
    }
    handlerCount += 1;
    errors.push(...check(at.child(field)));
  };
  const { exec, httpGet, tcpSocket } = handler;
  if (exec) {
    take('exec', (field) =>
      exec.command?.length ? [] : [fieldError.required(field.child('command'))],
    );
  }
  if (httpGet) take('httpGet', (field) => validateHttpGet(httpGet, field));
  if (tcpSocket) take('tcpSocket', (field) => validatePort(tcpSocket.port, field.child('port')));
  if (handlerCount === 0) errors.push(fieldError.required(at, 'must specify a handler type'));
  return errors;
}

function validateHttpGet(action: HTTPGetAction, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (!action.path) errors.push(fieldError.required(at.child('path')));
  errors.push(...validatePort(action.port, at.child('port')));
  errors.push(...checkRequiredOneOf(action.scheme, ['HTTP', 'HTTPS'], at.child('scheme')));
  for (const header of action.httpHeaders ?? []) {
    errors.push(
      ...invalidEach(at.child('httpHeaders'), header.name, checkHttpHeaderName(header.name)),
    );
  }
  return errors;
}

/** A port by number or by name. */
export function validatePort(port: IntOrString | undefined, at: FieldPath): FieldError[] {
  const value = port ?? 0;
  return invalidEach(
    at,
    value,
    typeof value === 'number' ? checkPortNumber(value) : checkPortName(value),
  );
}

import { describe, expect, it } from 'vitest';
import { badRequest, conflict, forbidden, invalid, notFound } from './errors.js';
import { fieldError } from './field-error.js';
import { path } from './field-path.js';
import { stringList, stringMap } from './value-format.js';

describe('status errors', () => {
  it('name the resource with its group', () => {
    const { status } = notFound({ group: 'apps', resource: 'deployments' }, 'web');
    expect(status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'deployments.apps "web" not found',
      reason: 'NotFound',
      details: { name: 'web', group: 'apps', kind: 'deployments' },
      code: 404,
    });
  });

  it('report a stale version as a conflict', () => {
    expect(conflict({ group: '', resource: 'configmaps' }, 'obj').status).toMatchObject({
      message:
        'Operation cannot be fulfilled on configmaps "obj": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: 'obj', kind: 'configmaps' },
    });
  });

  it('name user, verb and resource of a denied request', () => {
    const resource = {
      group: '',
      resource: 'pods',
      subresource: 'log',
      namespace: 'ns',
      name: 'none',
    };
    expect(forbidden({ user: 'alice', verb: 'get', resource, path: '' }).message).toBe(
      'pods "none" is forbidden: User "alice" cannot get resource "pods/log" in API group "" in the namespace "ns"',
    );
    expect(forbidden({ user: 'alice', verb: 'get', path: '/logs' }).message).toBe(
      'forbidden: User "alice" cannot get path "/logs"',
    );
  });

  it('keep repeated causes but list them once in the message', () => {
    const error = fieldError.invalid(path('metadata', 'uid'), 'x', 'field is immutable');
    const { status } = invalid({ group: '', kind: 'ConfigMap' }, 'a', [error, error]);
    expect(status.message).toBe(
      'ConfigMap "a" is invalid: metadata.uid: Invalid value: "x": field is immutable',
    );
    expect(status.details?.causes).toHaveLength(2);
  });

  it('enclose several messages in brackets', () => {
    const fieldPath = path('spec').child('ports').index(0);
    const { status } = invalid({ group: 'apps', kind: 'Deployment' }, 'web', [
      fieldError.required(fieldPath.child('name')),
      fieldError.notSupported(fieldPath.child('protocol'), 'X', ['SCTP', 'TCP']),
      fieldError.duplicate(fieldPath.child('port'), 5),
    ]);
    expect(status.message).toBe(
      'Deployment.apps "web" is invalid: [spec.ports[0].name: Required value, spec.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", spec.ports[0].port: Duplicate value: 5]',
    );
  });

  it('limit the listed errors and report the number of the others', () => {
    const errors = Array.from({ length: 1_500 }, (_, i) => fieldError.required(`f${i}`, ''));
    const { status } = invalid({ group: '', kind: 'Pod' }, 'x', errors);
    expect(status.details?.causes).toHaveLength(1_000);
    expect(status.message).toMatch(/f999: Required value] and 500 more$/);
  });

  it('have no details for bad requests', () => {
    expect(badRequest('x').status).not.toHaveProperty('details');
  });
});

describe('values in messages', () => {
  const message = (value: unknown) => fieldErrorText(value);
  it('quote texts and escape unprintable characters', () => {
    expect(message('a\u0007b')).toBe('"a\\ab"');
    expect(message('grün')).toBe('"grün"');
    expect(message(undefined)).toBe('"null"');
  });
  it('print lists and maps of texts as typed literals', () => {
    expect(message(['All', 'x'])).toBe('[]string{"All", "x"}');
    expect(message(stringList(['a']))).toBe('[]string{"a"}');
    expect(message(stringMap({ b: '2', a: '1' }))).toBe('map[string]string{"a":"1", "b":"2"}');
    expect(message(stringMap(undefined))).toBe('map[string]string(nil)');
  });
});

function fieldErrorText(value: unknown): string {
  const text = invalid({ group: '', kind: 'K' }, 'n', [fieldError.invalid('f', value, '')]).message;
  return text.replace('K "n" is invalid: f: Invalid value: ', '');
}

import { describe, expect, it } from 'vitest';
import { badRequest, conflict, forbidden, invalid, notFound } from './errors.js';
import { fieldError } from './field-error.js';
import { path } from './field-path.js';
import { stringList, stringMap } from './value-format.js';

describe('status errors', () => {
  it('names the resource with its group', () => {
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

  it('words a stale version as a conflict', () => {
    expect(conflict({ group: '', resource: 'configmaps' }, 'obj').status).toMatchObject({
      message:
        'Operation cannot be fulfilled on configmaps "obj": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: 'obj', kind: 'configmaps' },
    });
  });

  it('says who may not do what and where', () => {
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

  it('keeps repeated causes and names them once in the message', () => {
    const error = fieldError.invalid(path('metadata', 'uid'), 'x', 'field is immutable');
    const { status } = invalid({ group: '', kind: 'ConfigMap' }, 'a', [error, error]);
    expect(status.message).toBe(
      'ConfigMap "a" is invalid: metadata.uid: Invalid value: "x": field is immutable',
    );
    expect(status.details?.causes).toHaveLength(2);
  });

  it('puts several messages in brackets', () => {
    const at = path('spec').child('ports').index(0);
    const { status } = invalid({ group: 'apps', kind: 'Deployment' }, 'web', [
      fieldError.required(at.child('name')),
      fieldError.notSupported(at.child('protocol'), 'X', ['SCTP', 'TCP']),
      fieldError.duplicate(at.child('port'), 5),
    ]);
    expect(status.message).toBe(
      'Deployment.apps "web" is invalid: [spec.ports[0].name: Required value, spec.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", spec.ports[0].port: Duplicate value: 5]',
    );
  });

  it('names only so many mistakes of one object, and says how many more there are', () => {
    const errors = Array.from({ length: 1_500 }, (_, i) => fieldError.required(`f${i}`, ''));
    const { status } = invalid({ group: '', kind: 'Pod' }, 'x', errors);
    expect(status.details?.causes).toHaveLength(1_000);
    expect(status.message).toMatch(/f999: Required value] and 500 more$/);
  });

  it('gives bad requests no details', () => {
    expect(badRequest('x').status).not.toHaveProperty('details');
  });
});

describe('values in messages', () => {
  const message = (value: unknown) => fieldErrorText(value);
  it('quotes texts and escapes what cannot be printed', () => {
    expect(message('a\u0007b')).toBe('"a\\ab"');
    expect(message('grün')).toBe('"grün"');
    expect(message(undefined)).toBe('"null"');
  });
  it('prints lists and maps of texts in their typed form', () => {
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

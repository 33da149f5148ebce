import { describe, expect, it } from 'vitest';
import { subdomainName } from '../names/object-names.js';
import { fieldErrorMessage } from '../status/field-error.js';
import { path } from '../status/field-path.js';
import {
  validateFieldManager,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './validate-object-meta.js';

const rules = { namespaced: true, validateName: subdomainName, strictFinalizers: true };
const messages = (meta: Parameters<typeof validateObjectMeta>[0]) =>
  validateObjectMeta({ name: 'a', namespace: 'ns', ...meta }, rules).map(fieldErrorMessage);

describe('metadata rules', () => {
  it('require a name or a prefix', () => {
    expect(messages({ name: '' })).toEqual([
      'metadata.name: Required value: name or generateName is required',
    ]);
  });
  it('validate finalizers', () => {
    expect(messages({ finalizers: ['nope'] })).toEqual([
      'metadata.finalizers[0]: Invalid value: "nope": name is neither a standard finalizer name nor is it fully qualified',
    ]);
    expect(messages({ finalizers: ['orphan', 'foregroundDeletion'] })).toEqual([
      'metadata.finalizers: Invalid value: []string{"orphan", "foregroundDeletion"}: finalizer orphan and foregroundDeletion cannot be both set',
    ]);
  });
  it('validate owner references', () => {
    expect(
      messages({ ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] }),
    ).toEqual([
      'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
      'metadata.ownerReferences.kind: Invalid value: "": kind must not be empty',
      'metadata.ownerReferences.name: Invalid value: "": name must not be empty',
      'metadata.ownerReferences.uid: Invalid value: "": uid must not be empty',
    ]);
    expect(
      messages({ ownerReferences: [{ apiVersion: 'a/b/c', kind: 'X', name: 'x', uid: '1' }] }),
    ).toEqual([
      'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
    ]);
  });
  it('limit annotations and allow capitals in their keys', () => {
    expect(messages({ annotations: { 'Example.com/X': 'y' } })).toEqual([]);
    expect(messages({ annotations: { big: 'x'.repeat(262_145) } })).toEqual([
      'metadata.annotations: Too long: must have at most 262144 bytes',
    ]);
  });
  it('reject changes of identity, and new finalizers during deletion', () => {
    const old = { name: 'a', uid: '1', deletionTimestamp: '2026-01-01T00:00:00Z' };
    const errors = validateObjectMetaUpdate(
      { ...old, uid: '2', resourceVersion: '7', finalizers: ['example.com/three'] },
      old,
      true,
    );
    expect(errors.map(fieldErrorMessage)).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/three"}',
      'metadata.uid: Invalid value: "2": field is immutable',
    ]);
  });
  it('require printable manager names', () => {
    expect(validateFieldManager('a\u0007b', path('fieldManager')).map(fieldErrorMessage)).toEqual([
      'fieldManager: Invalid value: "a\\ab": invalid character U+0007 (at position 1)',
    ]);
  });
});

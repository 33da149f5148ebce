import { describe, expect, it } from 'vitest';
import type { Permission } from '../rule.js';
import { type Admitting, admit, refusalOf } from '../testing/admit.js';
import { ownerReferencesRule } from './owner-references.js';

const served = [
  {
    ...{ apiVersion: 'apps/v1', version: 'v1' },
    definition: { kind: 'ReplicaSet', namespaced: true },
    groupResource: { group: 'apps', resource: 'replicasets' },
  },
  {
    ...{ apiVersion: 'v1', version: 'v1' },
    definition: { kind: 'Node', namespaced: false },
    groupResource: { group: '', resource: 'nodes' },
  },
];
const rules = [
  ownerReferencesRule({ served } as unknown as Parameters<typeof ownerReferencesRule>[0]),
];

const owner = (fields: object = {}) => ({
  ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'u1' },
  ...fields,
});
const pod = (...ownerReferences: ReturnType<typeof owner>[]) => ({
  metadata: { name: 'p', namespace: 'ns', ownerReferences },
});

async function asked(object: object, admitting: Admitting = {}): Promise<Permission[]> {
  const permissions: Permission[] = [];
  const allows = (permission: Permission) => permissions.push(permission) > 0;
  await admit(object, { rules, allows, ...admitting });
  return permissions;
}

const denied = (object: object, admitting: Admitting = {}) =>
  refusalOf(admit(object, { rules, allows: () => false, ...admitting }));

describe('OwnerReferencesPermissionEnforcement', () => {
  it('requires permission to delete an object whose references change', async () => {
    const old = pod();
    expect(await denied(pod(owner()), { old })).toBe(
      `pods "p" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>`,
    );
    expect(await asked(pod(owner()), { old })).toMatchObject([
      { verb: 'delete', plural: 'pods', namespace: 'ns', name: 'p' },
    ]);
  });

  it('requires permission to update the finalizers of owners that are newly blocked', async () => {
    const blocking = owner({ blockOwnerDeletion: true });
    expect(await denied(pod(blocking))).toBe(
      `pods "p" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>`,
    );
    const permission = { verb: 'update', subresource: 'finalizers', name: 'rs', version: 'v1' };
    expect(await asked(pod(blocking))).toMatchObject([
      { ...permission, groupHead: 'apps', plural: 'replicasets', namespace: 'ns' },
    ]);
    const node = owner({ apiVersion: 'v1', kind: 'Node', blockOwnerDeletion: true });
    expect(await asked(pod(node))).toMatchObject([{ plural: 'nodes', namespace: '' }]);
    expect(await asked(pod(blocking), { old: pod(owner()) })).toHaveLength(2);
    expect(await asked(pod(), { old: pod(blocking) })).toHaveLength(1);
  });

  it('rejects blocking an owner of an unknown kind', async () => {
    const unknown = owner({ kind: 'Nothing', blockOwnerDeletion: true });
    expect(await denied(pod(unknown))).toContain(
      'cannot find RESTMapping for APIVersion apps/v1 Kind Nothing',
    );
  });

  it('ignores unchanged references, creates that block nothing, and statuses of pods', async () => {
    expect(await asked(pod(owner()), { old: pod(owner()) })).toEqual([]);
    expect(await asked(pod(owner()))).toEqual([]);
    expect(await asked(pod(owner()), { old: pod(), subresource: 'status' })).toEqual([]);
  });
});

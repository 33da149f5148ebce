/**
 * Checks permissions for owner references: a changed reference can delete the object, and a
 * reference that blocks the deletion of its owner acts on the owner. Users therefore need to be
 * allowed to delete the object, and to update the finalizers of the owner.
 */
import { semanticallyEqual } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { ResourceTable } from '@orch/registry';
import type { OwnerReference } from '@orch/types/meta/v1';
import { rulePluginWith } from '../kind-rules.js';
import type { PluginDeclaration } from '../plugin.js';
import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionTarget,
  forbiddenTarget,
  type Permission,
} from '../rule.js';

const identity = { name: 'OwnerReferencesPermissionEnforcement', isDefault: false };

export const ownerReferencesPermission: PluginDeclaration = rulePluginWith(identity, ({ table }) =>
  ownerReferencesRule(table),
);

export function ownerReferencesRule(table: Pick<ResourceTable, 'served'>): AdmissionRule {
  return {
    ...identity,
    operations: ['CREATE', 'UPDATE'],

    async validate(target, context) {
      // Agents send pods without references; their status cannot change references.
      if (isPodStatus(target)) return;
      const references = target.object?.metadata?.ownerReferences ?? [];
      const before = target.old?.metadata?.ownerReferences ?? [];
      if (semanticallyEqual(references, before)) return;
      if (target.operation === 'UPDATE') await checkDelete(target, context);
      for (const reference of newlyBlocking(references, before)) {
        await checkOwner(target, context, table, reference);
      }
    },
  };
}

function isPodStatus({ groupHead, plural, subresource }: AdmissionTarget): boolean {
  return groupHead === 'core' && plural === 'pods' && subresource === 'status';
}

async function checkDelete(target: AdmissionTarget, context: AdmissionContext): Promise<void> {
  const { groupResource, namespace, name, subresource } = target;
  await check(
    target,
    context,
    {
      verb: 'delete',
      groupHead: dialect().groupHead(groupResource.group),
      plural: groupResource.resource,
      ...{ namespace, name, subresource },
    },
    "cannot set an ownerRef on a resource you can't delete",
  );
}

/** References that block the deletion of an owner and did not before. */
function newlyBlocking(
  references: readonly OwnerReference[],
  before: readonly OwnerReference[],
): OwnerReference[] {
  const blocked = new Set(
    before.filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map(({ uid }) => uid),
  );
  return references.filter(
    ({ blockOwnerDeletion, uid }) => blockOwnerDeletion && !blocked.has(uid),
  );
}

/** A kind may be that of several resources; all are checked. */
async function checkOwner(
  target: AdmissionTarget,
  context: AdmissionContext,
  table: Pick<ResourceTable, 'served'>,
  { apiVersion, kind, name }: OwnerReference,
): Promise<void> {
  const owners = table.served.filter(
    (served) => served.apiVersion === apiVersion && served.definition.kind === kind,
  );
  if (owners.length === 0) {
    throw forbiddenTarget(
      target,
      `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind "${kind}" in version "${apiVersion}"`,
    );
  }
  for (const { groupResource, version, definition } of owners) {
    await check(
      target,
      context,
      {
        verb: 'update',
        groupHead: dialect().groupHead(groupResource.group),
        version,
        plural: groupResource.resource,
        namespace: definition.namespaced ? target.namespace : '',
        subresource: 'finalizers',
        name,
      },
      "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on",
    );
  }
}

/** The upstream texts end in the reason and the absent error of the authorizer. */
async function check(
  target: AdmissionTarget,
  context: AdmissionContext,
  permission: Permission,
  text: string,
): Promise<void> {
  const { verdict, reason } = await context.decide(permission, context.user);
  if (verdict !== 'allow') throw forbiddenTarget(target, `${text}: ${reason}, <nil>`);
}

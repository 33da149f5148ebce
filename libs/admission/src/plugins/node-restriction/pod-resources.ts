/** What the agent does for its pods: reports resized claims and requests tokens. */
import { quote, semanticallyEqual } from '@orch/apimachinery';
import type { TokenRequest } from '@orch/types/authentication/v1';
import type { PersistentVolumeClaim } from '@orch/types/core/v1';
import { forbiddenTarget } from '../../rule.js';
import type { NodeWrite } from './node-write.js';
import { podOf } from './own-pods.js';

export function checkClaimStatus({ node, target }: NodeWrite): void {
  const { operation, object, old } = target;
  if (operation !== 'UPDATE') {
    throw forbiddenTarget(target, `unexpected operation ${quote(operation)}`);
  }
  const changed = changedFields(old as PersistentVolumeClaim, object as PersistentVolumeClaim);
  if (changed.length === 0) return;
  throw forbiddenTarget(
    target,
    `node ${quote(node)} is not allowed to update fields other than status.capacity and status.conditions: ${indent}${changed.join(`\n${indent}`)}\n`,
  );
}

/** Upstream's differences begin with non-breaking spaces. */
const indent = '\u00a0\u00a0';
const managedMetadata = new Set(['resourceVersion', 'managedFields']);
const reportedStatus = new Set(['capacity', 'conditions']);

/** The paths of the fields that differ and that an agent does not report. */
function changedFields(old: PersistentVolumeClaim, now: PersistentVolumeClaim): string[] {
  return [
    ...differences('metadata', old.metadata, now.metadata, managedMetadata),
    ...(semanticallyEqual(old.spec, now.spec) ? [] : ['spec']),
    ...differences('status', old.status, now.status, reportedStatus),
  ];
}

function differences<T extends object>(
  part: string,
  old: T | undefined,
  now: T | undefined,
  except: ReadonlySet<string>,
): string[] {
  const fields = new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})]) as Set<
    keyof T & string
  >;
  return [...fields]
    .filter((field) => !except.has(field) && !semanticallyEqual(old?.[field], now?.[field]))
    .map((field) => `${part}.${field}`);
}

/** A token must be bound to a pod on the node. */
export async function checkToken(write: NodeWrite): Promise<void> {
  const { node, target } = write;
  const refuse = (reason: string) => forbiddenTarget(target, reason);
  const bound = (target.object as TokenRequest | undefined)?.spec?.boundObjectRef;
  if (bound?.apiVersion !== 'v1' || bound.kind !== 'Pod' || !bound.name) {
    throw refuse('node requested token not bound to a pod');
  }
  if (!bound.uid) throw refuse('node requested token with a pod binding without a uid');
  const pod = await podOf(write, bound.name);
  if (bound.uid !== pod.metadata?.uid) {
    throw refuse(
      `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  if (pod.spec?.nodeName !== node) {
    throw refuse('node requested token bound to a pod scheduled on a different node');
  }
}

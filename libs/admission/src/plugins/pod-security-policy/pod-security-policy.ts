/**
 * Admits pods that a pod security policy allows and that their user or service account may use. A
 * policy that need not change the pod is preferred, then the first by name. Updates are validated
 * only.
 */
import { fieldErrorMessage, semanticallyEqual } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { accountUserName, serviceAccountGroups, type User } from '@orch/security';
import type { Pod } from '@orch/types/core/v1';
import type { PodSecurityPolicy } from '@orch/types/policy/v1beta1';
import { changesCollectionFieldsOnly } from '../../collection-fields.js';
import { podSecurityPoliciesMax, policyReasonsBytesMax } from '../../limits.js';
import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionTarget,
  forbiddenTarget,
} from '../../rule.js';
import { applyPolicy } from './apply-policy.js';

const subresources = ['', 'ephemeralcontainers'];
/** Policies were in the second group before. */
const groupHeads = ['policy', 'extensions'];

export const podSecurityPolicy: AdmissionRule = {
  name: 'PodSecurityPolicy',
  isDefault: false,
  kinds: ['core/pods'],
  operations: ['CREATE', 'UPDATE'],

  async mutate(target, context) {
    if (target.operation !== 'CREATE' || isExempt(target)) return;
    const chosen = await choosePolicy(target, context, true);
    if ('reasons' in chosen) {
      throw forbiddenTarget(target, `PodSecurityPolicy: unable to admit pod: ${chosen.reasons}`);
    }
    const pod = target.object as Pod;
    pod.spec = chosen.pod.spec;
    pod.metadata = {
      ...chosen.pod.metadata,
      annotations: { ...chosen.pod.metadata?.annotations, [policyAnnotation()]: chosen.name },
    };
  },

  async validate(target, context) {
    if (isExempt(target)) return;
    const chosen = await choosePolicy(target, context, false);
    if (!('reasons' in chosen)) return;
    throw forbiddenTarget(target, `PodSecurityPolicy: unable to validate pod: ${chosen.reasons}`);
  },
};

function policyAnnotation(): string {
  return dialect().key('psp');
}

function isExempt({ subresource, object, old }: AdmissionTarget): boolean {
  // The garbage collector may release any pod.
  return !subresources.includes(subresource) || changesCollectionFieldsOnly(object, old);
}

type Choice =
  | { readonly name: string; readonly pod: Pod }
  /** Violations of the policies that could be used. */
  | { readonly reasons: string };

async function choosePolicy(
  target: AdmissionTarget,
  context: AdmissionContext,
  mayChange: boolean,
): Promise<Choice> {
  const given = target.object as Pod;
  const mayUse = usability(target, context);
  let changing: Choice | undefined;
  const reasons: string[] = [];
  for (const policy of await policiesFor(target, context, mayChange)) {
    const name = policy.metadata?.name ?? '';
    if (!policy.spec) continue;
    const annotations = policy.metadata?.annotations ?? {};
    const { pod, errors } = applyPolicy({ spec: policy.spec, annotations }, given);
    if (errors.length > 0) {
      if (await mayUse(name)) reasons.push(...errors.map(fieldErrorMessage));
      continue;
    }
    const changes = !semanticallyEqual(pod, given);
    if ((changes && (!mayChange || changing)) || !(await mayUse(name))) continue;
    if (!changes) return { name, pod };
    changing = { name, pod };
  }
  return changing ?? { reasons: reasonsText(reasons) };
}

/** By name; the policy that admitted the pod first if the pod is only validated. */
async function policiesFor(
  target: AdmissionTarget,
  { reader }: AdmissionContext,
  mayChange: boolean,
): Promise<PodSecurityPolicy[]> {
  const listed = await reader.list('policy', 'podsecuritypolicies');
  if (listed.length === 0) {
    throw forbiddenTarget(
      target,
      'PodSecurityPolicy: no providers available to validate pod request',
    );
  }
  if (listed.length > podSecurityPoliciesMax) {
    throw forbiddenTarget(
      target,
      `PodSecurityPolicy: there are more than ${podSecurityPoliciesMax} policies; delete unused ones`,
    );
  }
  const nameOf = (policy: PodSecurityPolicy) => policy.metadata?.name ?? '';
  const hint = mayChange ? undefined : target.object?.metadata?.annotations?.[policyAnnotation()];
  const rank = (policy: PodSecurityPolicy) => (nameOf(policy) === hint ? 0 : 1);
  return [...(listed as readonly PodSecurityPolicy[])].sort(
    (a, b) => rank(a) - rank(b) || (nameOf(a) < nameOf(b) ? -1 : 1),
  );
}

/** Reports whether the service account of the pod, or the user, may use a policy. */
function usability(
  { namespace, object }: AdmissionTarget,
  { user, decide }: AdmissionContext,
): (policyName: string) => Promise<boolean> {
  const account = (object as Pod).spec?.serviceAccountName ?? '';
  const users = account === '' ? [user] : [accountUser(namespace, account), user];
  return async (name) => {
    for (const by of users) {
      for (const groupHead of groupHeads) {
        const permission = {
          ...{ verb: 'use', groupHead, plural: 'podsecuritypolicies', namespace, name },
        };
        if ((await decide(permission, by)).verdict === 'allow') return true;
      }
    }
    return false;
  };
}

function accountUser(namespace: string, name: string): User {
  return {
    name: accountUserName(namespace, name),
    uid: '',
    groups: serviceAccountGroups(namespace),
    extra: {},
  };
}

function reasonsText(reasons: readonly string[]): string {
  const shown: string[] = [];
  let bytes = 0;
  for (const reason of reasons) {
    bytes += Buffer.byteLength(reason);
    if (bytes > policyReasonsBytesMax) {
      shown.push('...');
      break;
    }
    shown.push(reason);
  }
  return `[${shown.join(' ')}]`;
}

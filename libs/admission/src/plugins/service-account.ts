/**
 * Assigns the service account of a pod: checks that it exists, copies its image pull secrets and
 * mounts its token unless the pod or the account opts out. Mirror pods must not use an account or
 * secrets.
 */

import { mirrorAnnotation } from '@orch/api';
import { checkPathSegment, quote, randomSuffix } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Container, PodSpec, ServiceAccount, Volume } from '@orch/types/core/v1';
import {
  type AdmissionContext,
  type AdmissionTarget,
  forbiddenTarget,
  type WriteRule,
} from '../rule.js';
import { validateMountableSecrets } from './mountable-secrets.js';

const defaultAccount = 'default';
/** A controller creates the default account shortly after the namespace. */
const defaultAccountTryCount = 10;
const tryDelayMs = 150;
const tokenSeconds = 3607;

export const serviceAccount: WriteRule<'core/pods'> = {
  name: 'ServiceAccount',
  isDefault: true,
  kinds: ['core/pods'],
  operations: ['CREATE'],
  subresource: '',

  async mutate(target, context) {
    const pod = target.object;
    pod.spec ??= {};
    const { spec } = pod;
    if (pod.metadata?.annotations?.[mirrorAnnotation()] !== undefined) {
      checkMirror(target, spec);
      return;
    }
    spec.serviceAccountName ||= defaultAccount;
    spec.serviceAccount = spec.serviceAccountName;
    const account = await findAccount(target, spec.serviceAccountName, context);
    if (mayMount(spec, account)) mountToken(spec, context.random);
    if (!spec.imagePullSecrets?.length && account.imagePullSecrets?.length) {
      spec.imagePullSecrets = account.imagePullSecrets.map(({ name }) => ({ name }));
    }
  },

  async validate(target, context) {
    const pod = target.object;
    const spec = pod.spec ?? {};
    if (pod.metadata?.annotations?.[mirrorAnnotation()] !== undefined) return;
    const account = await findAccount(target, spec.serviceAccountName ?? defaultAccount, context);
    const problem = validateMountableSecrets(spec, account);
    if (problem !== undefined) throw forbiddenTarget(target, problem);
  },
};

function checkMirror(target: AdmissionTarget, spec: PodSpec): void {
  if (spec.serviceAccountName) {
    throw forbiddenTarget(target, 'a mirror pod may not reference service accounts');
  }
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const readsSecrets =
    spec.volumes?.some(usesSecret) ||
    containers.some(
      ({ env, envFrom }) =>
        env?.some(({ valueFrom }) => valueFrom?.secretKeyRef) ||
        envFrom?.some(({ secretRef }) => secretRef),
    );
  if (readsSecrets) throw forbiddenTarget(target, 'a mirror pod may not reference secrets');
  if (spec.volumes?.some(usesToken)) {
    throw forbiddenTarget(
      target,
      'a mirror pod may not use ServiceAccountToken volume projections',
    );
  }
}

function usesSecret(volume: Volume): boolean {
  return (
    volume.secret !== undefined ||
    (volume.projected?.sources ?? []).some(({ secret }) => secret !== undefined)
  );
}

function usesToken(volume: Volume): boolean {
  return (volume.projected?.sources ?? []).some(
    ({ serviceAccountToken }) => serviceAccountToken !== undefined,
  );
}

async function findAccount(
  target: AdmissionTarget,
  name: string,
  context: AdmissionContext,
): Promise<ServiceAccount> {
  const tryCount = name === defaultAccount ? defaultAccountTryCount : 1;
  for (let attempt = 1; ; attempt += 1) {
    const account = await context.reader.get('core', 'serviceaccounts', target.namespace, name);
    if (account) return account;
    if (attempt >= tryCount) break;
    await context.wait(tryDelayMs);
  }
  const faults = checkPathSegment(name);
  const reason =
    faults.length > 0
      ? `invalid resource name ${quote(name)}: [${faults.join(' ')}]`
      : `serviceaccount "${name}" not found`;
  throw forbiddenTarget(
    target,
    `error looking up service account ${target.namespace}/${name}: ${reason}`,
  );
}

function mayMount(spec: PodSpec, account: ServiceAccount): boolean {
  return spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
}

/** Mounts the token into every container that has no mount at its path. */
function mountToken(spec: PodSpec, random: () => number): void {
  const mountPath = `/var/run/secrets/${dialect().keyDomain}/serviceaccount`;
  const containers: Container[] = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const lacking = containers.filter(
    ({ volumeMounts }) => !volumeMounts?.some((mount) => mount.mountPath === mountPath),
  );
  if (lacking.length === 0) return;
  const prefix = dialect().systemName('api-access-');
  const existing = spec.volumes?.find(
    (volume) => volume.name.startsWith(prefix) && volume.projected,
  );
  const name = existing?.name ?? `${prefix}${randomSuffix(random)}`;
  if (!existing) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)];
  for (const container of lacking) {
    container.volumeMounts = [
      ...(container.volumeMounts ?? []),
      { name, readOnly: true, mountPath },
    ];
  }
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
        {
          configMap: {
            name: dialect().systemName('root-ca.crt'),
            items: [{ key: 'ca.crt', path: 'ca.crt' }],
          },
        },
        {
          downwardAPI: {
            items: [
              {
                path: 'namespace',
                fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' },
              },
            ],
          },
        },
      ],
      defaultMode: 0o644,
    },
  };
}

/** A service account may restrict its pods to the secrets it lists. */
import { dialect } from '@orch/component';
import type { Container, PodSpec, ServiceAccount } from '@orch/types/core/v1';

/** The reason why the pod is rejected; undefined if it is allowed. */
export function validateMountableSecrets(
  spec: PodSpec,
  account: ServiceAccount,
): string | undefined {
  const key = dialect().key('enforce-mountable-secrets');
  if (account.metadata?.annotations?.[key] !== 'true') return undefined;
  const allowed = new Set((account.secrets ?? []).map(({ name }) => name ?? ''));
  const name = account.metadata?.name ?? '';
  for (const volume of spec.volumes ?? []) {
    const secretName = volume.secret?.secretName;
    if (secretName !== undefined && !allowed.has(secretName)) {
      return `volume with secret.secretName="${secretName}" is not allowed because service account ${name} does not reference that secret`;
    }
  }
  return (
    environmentProblem('init container', spec.initContainers ?? [], allowed, name) ??
    environmentProblem('container', spec.containers ?? [], allowed, name) ??
    pullSecretProblem(spec, account)
  );
}

function environmentProblem(
  what: string,
  containers: readonly Container[],
  allowed: ReadonlySet<string>,
  account: string,
): string | undefined {
  for (const container of containers) {
    for (const variable of container.env ?? []) {
      const secretName = variable.valueFrom?.secretKeyRef?.name;
      if (secretName !== undefined && !allowed.has(secretName)) {
        return `${what} ${container.name} with envVar ${variable.name} referencing secret.secretName="${secretName}" is not allowed because service account ${account} does not reference that secret`;
      }
    }
  }
  return undefined;
}

function pullSecretProblem(spec: PodSpec, account: ServiceAccount): string | undefined {
  const allowed = new Set((account.imagePullSecrets ?? []).map(({ name }) => name));
  const index = (spec.imagePullSecrets ?? []).findIndex(({ name }) => !allowed.has(name));
  if (index < 0) return undefined;
  return `imagePullSecrets[${index}].name="${spec.imagePullSecrets?.[index]?.name}" is not allowed because service account ${account.metadata?.name} does not reference that imagePullSecret`;
}

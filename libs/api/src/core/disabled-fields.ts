/** Fields of features that are off: taken in, and dropped before anything looks at them. */
import type { Affinity, Container, PodSpec } from '@orch/types/core/v1';

export function dropDisabledFields(spec: PodSpec | undefined): void {
  if (!spec) return;
  delete spec.ephemeralContainers;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    dropFromContainer(container);
  }
  if (spec.affinity) dropFromAffinity(spec.affinity);
}

function dropFromContainer(container: Container): void {
  if (container.securityContext?.procMount !== undefined) {
    container.securityContext.procMount = 'Default';
  }
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    delete container[name]?.terminationGracePeriodSeconds;
  }
}

function dropFromAffinity(affinity: Affinity): void {
  for (const terms of [affinity.podAffinity, affinity.podAntiAffinity]) {
    for (const term of terms?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
      delete term.namespaceSelector;
    }
    for (const term of terms?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
      delete term.podAffinityTerm?.namespaceSelector;
    }
  }
}

/** Namespaces and ports of the host. */
import { type FieldError, fieldError, path } from '@orch/apimachinery';
import type { HostPortRange } from '@orch/types/policy/v1beta1';
import type { ContainerValidator, PodValidator } from './policy-strategy.js';

const namespaces = [
  ['hostNetwork', 'Host network'],
  ['hostPID', 'Host PID'],
  ['hostIPC', 'Host IPC'],
] as const;

/** Errors name the fields as if they were in the security context. */
export const validateHostNamespaces: PodValidator = ({ spec }, pod) =>
  namespaces
    .filter(([field]) => pod.spec?.[field] && !spec[field])
    .map(([field, title]) =>
      fieldError.invalid(
        path('spec', 'securityContext', field),
        true,
        `${title} is not allowed to be used`,
      ),
    );

export const validateHostPorts: ContainerValidator = ({ spec }, _pod, container, fieldPath) => {
  const { hostPorts = [] } = spec;
  return (container.ports ?? []).flatMap(({ hostPort = 0 }): FieldError[] => {
    if (hostPort <= 0 || hostPorts.some(({ min, max }) => hostPort >= min && hostPort <= max)) {
      return [];
    }
    const message = `Host port ${hostPort} is not allowed to be used. Allowed ports: [${rangesText(hostPorts)}]`;
    return [fieldError.invalid(fieldPath.child('hostPort'), hostPort, message)];
  });
};

function rangesText(ranges: readonly HostPortRange[]): string {
  return ranges.map(({ min, max }) => (min === max ? `${min}` : `${min}-${max}`)).join(',');
}

/** Pod templates, and the containers and volumes of pods. */
import type {
  Container,
  ContainerState,
  ContainerStatus,
  EnvVar,
  PodTemplateSpec,
  Probe,
  ResourceRequirements,
  Volume,
} from '@orch/types/core/v1';
import type { Description } from './description.js';

export function describeTemplate(
  description: Description,
  template: PodTemplateSpec | undefined,
): void {
  description.block('Pod Template', (inner) => {
    inner.pairs('Labels', template?.metadata?.labels);
    inner.field('Service Account', template?.spec?.serviceAccountName);
    describeContainers(inner, 'Init Containers', template?.spec?.initContainers ?? [], []);
    describeContainers(inner, 'Containers', template?.spec?.containers ?? [], []);
    describeVolumes(inner, template?.spec?.volumes ?? []);
  });
}

export function describeContainers(
  description: Description,
  label: string,
  containers: readonly Container[],
  statuses: readonly ContainerStatus[],
): void {
  if (containers.length === 0) return;
  description.block(label, (block) => {
    for (const container of containers) {
      const status = statuses.find((candidate) => candidate.name === container.name);
      block.block(container.name ?? '', (inner) => describeContainer(inner, container, status));
    }
  });
}

function describeContainer(
  description: Description,
  container: Container,
  status: ContainerStatus | undefined,
): void {
  const ports = (container.ports ?? []).map(
    (port) => `${port.containerPort}/${port.protocol ?? 'TCP'}`,
  );
  const hostPorts = (container.ports ?? [])
    .filter((port) => port.hostPort)
    .map((port) => `${port.hostPort}/${port.protocol ?? 'TCP'}`);
  description
    .field('Container ID', status?.containerID)
    .field('Image', container.image)
    .field('Image ID', status?.imageID)
    .field(ports.length > 1 ? 'Ports' : 'Port', ports.join(', ') || '<none>');
  if (hostPorts.length > 0) description.field('Host Ports', hostPorts.join(', '));
  if (container.command?.length) description.field('Command', container.command);
  if (container.args?.length) description.field('Args', container.args);
  if (status) {
    describeState(description, 'State', status.state);
    if (status.lastState && Object.keys(status.lastState).length > 0) {
      describeState(description, 'Last State', status.lastState);
    }
    description
      .field('Ready', status.ready ? 'True' : 'False')
      .field('Restart Count', status.restartCount ?? 0);
  }
  describeResources(description, container.resources);
  describeProbe(description, 'Liveness', container.livenessProbe);
  describeProbe(description, 'Readiness', container.readinessProbe);
  describeProbe(description, 'Startup', container.startupProbe);
  description.field('Environment', (container.env ?? []).map(environmentLine)).field(
    'Mounts',
    (container.volumeMounts ?? []).map(
      ({ mountPath, name, readOnly }) => `${mountPath} from ${name} (${readOnly ? 'ro' : 'rw'})`,
    ),
  );
}

function describeState(
  description: Description,
  label: string,
  state: ContainerState | undefined,
): void {
  if (state?.running) {
    description.field(label, ['Running', `Started: ${state.running.startedAt}`]);
  } else if (state?.terminated) {
    const { reason, message, exitCode, signal, startedAt, finishedAt } = state.terminated;
    description.field(label, [
      'Terminated',
      ...(reason ? [`Reason: ${reason}`] : []),
      ...(message ? [`Message: ${message}`] : []),
      `Exit Code: ${exitCode}`,
      ...(signal ? [`Signal: ${signal}`] : []),
      `Started: ${startedAt}`,
      `Finished: ${finishedAt}`,
    ]);
  } else {
    const { reason, message } = state?.waiting ?? {};
    description.field(label, [
      'Waiting',
      ...(reason ? [`Reason: ${reason}`] : []),
      ...(message ? [`Message: ${message}`] : []),
    ]);
  }
}

function describeResources(
  description: Description,
  resources: ResourceRequirements | undefined,
): void {
  const lines = (list: Readonly<Record<string, string>> | undefined) =>
    list && Object.entries(list).map(([name, amount]) => `${name}: ${amount}`);
  description.field('Limits', lines(resources?.limits));
  description.field('Requests', lines(resources?.requests));
}

function describeProbe(description: Description, label: string, probe: Probe | undefined): void {
  if (!probe) return;
  const { httpGet, tcpSocket, exec } = probe;
  const what = httpGet
    ? `http-get ${(httpGet.scheme ?? 'HTTP').toLowerCase()}://${httpGet.host ?? ''}:${httpGet.port}${httpGet.path ?? ''}`
    : tcpSocket
      ? `tcp-socket ${tcpSocket.host ?? ''}:${tcpSocket.port}`
      : `exec [${(exec?.command ?? []).join(' ')}]`;
  description.field(
    label,
    `${what} delay=${probe.initialDelaySeconds ?? 0}s timeout=${probe.timeoutSeconds ?? 1}s period=${probe.periodSeconds ?? 10}s #success=${probe.successThreshold ?? 1} #failure=${probe.failureThreshold ?? 3}`,
  );
}

function environmentLine({ name, value, valueFrom }: EnvVar): string {
  if (!valueFrom) return `${name}: ${value ?? ''}`;
  const { configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef } = valueFrom;
  if (secretKeyRef) {
    return `${name}: <set to the key '${secretKeyRef.key}' in secret '${secretKeyRef.name}'>`;
  }
  if (configMapKeyRef) {
    return `${name}: <set to the key '${configMapKeyRef.key}' of config map '${configMapKeyRef.name}'>`;
  }
  const source = fieldRef?.fieldPath ?? resourceFieldRef?.resource ?? '';
  return `${name}: (${source})`;
}

export function describeVolumes(description: Description, volumes: readonly Volume[]): void {
  if (volumes.length === 0) return;
  description.block('Volumes', (block) => {
    for (const { name, ...sources } of volumes) {
      const [type = 'unknown', source] = Object.entries(sources)[0] ?? [];
      block.block(name ?? '', (inner) => {
        inner.field('Type', type);
        for (const [key, value] of Object.entries(source ?? {})) {
          inner.field(key, typeof value === 'object' ? JSON.stringify(value) : String(value));
        }
      });
    }
  });
}

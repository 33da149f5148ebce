/**
 * Creates and starts one container of a pod: environment, volumes, message file, image. An error
 * contains the waiting state of the container; the worker retries later.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Container, Pod } from '@orch/types/core/v1';
import { containerEnvironment, expandAll } from '../environment/container-environment.js';
import { BrokenReference } from '../environment/referenced-objects.js';
import {
  type ContainerConfig,
  type ContainerId,
  type Mount,
  RuntimeError,
  type RuntimeErrorCode,
  type SandboxId,
} from '../runtimes/container-runtime.js';
import { containerMounts, type PreparedVolumes } from '../volumes/pod-volumes.js';
import type { Waiting } from './container-statuses.js';
import { containerUser } from './container-user.js';
import { etcHosts, podHostname } from './etc-hosts.js';
import { identityOf, type PodContext, podDirectory, podReference } from './pod-context.js';
import { annotationKeys } from './pod-view.js';

export interface LaunchRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly attempt: number;
  readonly sandboxId: SandboxId;
  readonly podIp: string;
  readonly volumes: PreparedVolumes;
}

/** The container could not be created or started; `waiting` is its waiting state in the API. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
  constructor(
    readonly waiting: Waiting,
    options?: ErrorOptions,
  ) {
    super(waiting.message, options);
  }
}

const createReasons: Partial<Record<RuntimeErrorCode, string>> = { InvalidImage: 'ErrImagePull' };

/** Creates and starts the container and returns its id. Throws `LaunchError`. */
export async function launchContainer(
  context: PodContext,
  request: LaunchRequest,
): Promise<ContainerId> {
  const { runtime, recorder } = context;
  const { pod, container, sandboxId } = request;
  const regarding = podReference(identityOf(pod), container.name);
  const image = container.image ?? '';
  await attempt('ErrImagePull', () => runtime.pullImage(image));
  recorder.event(
    regarding,
    'Normal',
    'Pulled',
    `Container image "${image}" already present on machine`,
  );
  const config = await attempt('CreateContainerConfigError', () => configOf(context, request));
  const id = await attempt('CreateContainerError', () =>
    runtime.createContainer(sandboxId, config),
  );
  recorder.event(regarding, 'Normal', 'Created', `Created container ${container.name}`);
  await attempt('RunContainerError', () => runtime.startContainer(id));
  recorder.event(regarding, 'Normal', 'Started', `Started container ${container.name}`);
  return id;
}

async function attempt<T>(reason: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof RuntimeError) && !(cause instanceof BrokenReference)) throw cause;
    const specific = cause instanceof RuntimeError ? createReasons[cause.code] : undefined;
    throw new LaunchError({ reason: specific ?? reason, message: cause.message }, { cause });
  }
}

async function configOf(context: PodContext, request: LaunchRequest): Promise<ContainerConfig> {
  const { pod, container, attempt: attemptNumber, podIp, volumes } = request;
  const identity = identityOf(pod);
  const environment = await containerEnvironment(container, {
    pod,
    addresses: { podIp, hostIp: context.hostIp },
    allocatable: context.allocatable,
    services: context.services(),
    objects: context.objects,
    onSkippedKeys: (source, keys) =>
      context.recorder.event(
        podReference(identity),
        'Warning',
        'InvalidEnvironmentVariableNames',
        `Keys [${keys.join(', ')}] from the EnvFrom ${source} were skipped since they are considered invalid environment variable names.`,
      ),
  });
  const directory = join(podDirectory(context, identity.uid), 'containers', container.name);
  const messagePath = join(directory, `${attemptNumber}.message`);
  mkdirSync(dirname(messagePath), { recursive: true, mode: 0o755 });
  writeFileSync(messagePath, '', { mode: 0o666 });
  const user = containerUser(pod, container);
  return {
    name: container.name,
    attempt: attemptNumber,
    image: container.image ?? '',
    command: expandAll(container.command, environment),
    args: expandAll(container.args, environment),
    ...(container.workingDir ? { workingDirectory: container.workingDir } : {}),
    environment: [...environment].map(([name, value]) => ({ name, value })),
    mounts: [
      ...containerMounts(container, volumes, environment),
      ...ownMounts(context, request, messagePath),
    ],
    logPath: join(container.name, `${attemptNumber}.log`),
    ...(user ? { user } : {}),
    readOnlyRoot: container.securityContext?.readOnlyRootFilesystem ?? false,
    ...(container.stdin ? { stdin: true } : {}),
    ...(container.tty ? { tty: true } : {}),
    annotations: {
      [annotationKeys.messagePath]: messagePath,
      [annotationKeys.messagePolicy]: container.terminationMessagePolicy ?? 'File',
      [annotationKeys.graceSeconds]: String(pod.spec?.terminationGracePeriodSeconds ?? 30),
    },
  };
}

/**
 * Returns the mounts of the termination message file and, unless the container mounts one, the
 * hosts file.
 */
function ownMounts(
  context: PodContext,
  { pod, container, podIp }: LaunchRequest,
  messagePath: string,
): Mount[] {
  const mounts: Mount[] = [
    {
      hostPath: messagePath,
      containerPath: container.terminationMessagePath || '/dev/termination-log',
      readOnly: false,
      optional: true,
    },
  ];
  const hasHosts = container.volumeMounts?.some(({ mountPath }) => mountPath === '/etc/hosts');
  if (!hasHosts && !pod.spec?.hostNetwork) {
    const hostsPath = join(podDirectory(context, identityOf(pod).uid), 'etc-hosts');
    writeFileSync(hostsPath, etcHosts(pod, podHostname(pod), podIp), { mode: 0o644 });
    mounts.push({
      hostPath: hostsPath,
      containerPath: '/etc/hosts',
      readOnly: false,
      optional: true,
    });
  }
  return mounts;
}

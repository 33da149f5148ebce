/** The labels and the status of the node object: capacity, conditions, addresses. Pure. */
import { conditionOf, formatTime, Quantity } from '@orch/apimachinery';
import { dialect, interfaceVersion } from '@orch/component';
import type { Node, NodeCondition, NodeStatus } from '@orch/types/core/v1';
import type { RuntimeInfo, RuntimeStatus } from '../runtimes/container-runtime.js';
import type { Pressure } from './eviction-signals.js';
import type { MachineInfo } from './machine-info.js';

export interface NodeStatusInput {
  readonly nodeName: string;
  readonly hostname: string;
  readonly addresses: readonly string[];
  readonly port: number;
  readonly podCountMax: number;
  /** Reserved for the system, in cores and bytes. */
  readonly reserved: { readonly cpuCores: number; readonly memoryBytes: number };
  readonly machine: MachineInfo;
  readonly runtime: RuntimeInfo;
  readonly runtimeStatus: RuntimeStatus;
  readonly pressure: Pressure;
  readonly nowMs: number;
}

/** Returns the labels that the agent sets on its node. */
export function nodeLabels(
  hostname: string,
  machine: MachineInfo,
  extra: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    [dialect().key('hostname')]: hostname,
    [dialect().key('os')]: machine.operatingSystem,
    [dialect().key('arch')]: machine.architecture,
    [dialect().key('os', 'beta')]: machine.operatingSystem,
    [dialect().key('arch', 'beta')]: machine.architecture,
    ...extra,
  };
}

/** Returns the annotation that states whether pods of this node listen on loopback addresses. */
export function podAddressAnnotation(runtime: RuntimeInfo): Record<string, string> {
  const kind = runtime.localPodAddresses ? 'loopback' : 'own';
  return { [dialect().key('pod-addresses', 'node')]: kind };
}

/** Returns the status; unchanged conditions retain the transition time of `current`. */
export function nodeStatus(input: NodeStatusInput, current: Node | undefined): NodeStatus {
  const { machine, reserved, podCountMax } = input;
  // As the server stores them, so that an unchanged status is seen to be one.
  const amount = (count: number, unit: string) =>
    Quantity.parse(`${Math.max(0, Math.floor(count))}${unit}`).toString();
  const amounts = (cpuCores: number, memoryBytes: number) => ({
    cpu: amount(cpuCores * 1000, 'm'),
    memory: amount(memoryBytes / 1024, 'Ki'),
    'ephemeral-storage': amount(machine.ephemeralStorageBytes / 1024, 'Ki'),
    pods: String(podCountMax),
  });
  return {
    capacity: amounts(machine.cpuCores, machine.memoryBytes),
    allocatable: amounts(
      machine.cpuCores - reserved.cpuCores,
      machine.memoryBytes - reserved.memoryBytes,
    ),
    conditions: conditions(input).map((next) => withTimes(next, current, input.nowMs)),
    addresses: [
      ...input.addresses.map((address) => ({ type: 'InternalIP', address })),
      { type: 'Hostname', address: input.hostname },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: input.port } },
    nodeInfo: {
      machineID: machine.machineId,
      systemUUID: machine.systemUuid,
      bootID: machine.bootId,
      kernelVersion: machine.kernelVersion,
      osImage: machine.osImage,
      containerRuntimeVersion: `${input.runtime.name}://${input.runtime.version}`,
      kubeletVersion: interfaceVersion.git,
      kubeProxyVersion: interfaceVersion.git,
      operatingSystem: machine.operatingSystem,
      architecture: machine.architecture,
    },
  };
}

function conditions({ pressure, runtimeStatus }: NodeStatusInput): NodeCondition[] {
  const { runtimeReady, networkReady, message } = runtimeStatus;
  const ready = runtimeReady && networkReady;
  return [
    pressureCondition('MemoryPressure', pressure.memory, [
      'KubeletHasInsufficientMemory',
      'KubeletHasSufficientMemory',
      'kubelet has insufficient memory available',
      'kubelet has sufficient memory available',
    ]),
    pressureCondition('DiskPressure', pressure.disk, [
      'KubeletHasDiskPressure',
      'KubeletHasNoDiskPressure',
      'kubelet has disk pressure',
      'kubelet has no disk pressure',
    ]),
    pressureCondition('PIDPressure', pressure.pid, [
      'KubeletHasInsufficientPID',
      'KubeletHasSufficientPID',
      'kubelet has insufficient PID available',
      'kubelet has sufficient PID available',
    ]),
    ready
      ? {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: 'kubelet is posting ready status',
        }
      : {
          type: 'Ready',
          status: 'False',
          reason: 'KubeletNotReady',
          message: message ?? 'container runtime is not ready',
        },
  ];
}

function pressureCondition(
  type: string,
  holds: boolean,
  [reasonIf, reasonIfNot, messageIf, messageIfNot]: readonly [string, string, string, string],
): NodeCondition {
  return holds
    ? { type, status: 'True', reason: reasonIf, message: messageIf }
    : { type, status: 'False', reason: reasonIfNot, message: messageIfNot };
}

function withTimes(next: NodeCondition, current: Node | undefined, nowMs: number): NodeCondition {
  const before = conditionOf(current?.status?.conditions, next.type);
  const now = formatTime(nowMs);
  const unchanged = before?.status === next.status ? before.lastTransitionTime : undefined;
  return { ...next, lastHeartbeatTime: now, lastTransitionTime: unchanged ?? now };
}

/** Whether the status differs in more than heartbeat times. */
export function hasChanged(current: Node | undefined, next: NodeStatus): boolean {
  const strip = (status: NodeStatus | undefined) =>
    JSON.stringify({
      capacity: sorted(status?.capacity),
      allocatable: sorted(status?.allocatable),
      addresses: status?.addresses,
      port: status?.daemonEndpoints?.kubeletEndpoint?.Port,
      boot: status?.nodeInfo?.bootID,
      runtime: status?.nodeInfo?.containerRuntimeVersion,
      conditions: next.conditions?.map(({ type }) => {
        const found = conditionOf(status?.conditions, type);
        return [type, found?.status, found?.reason, found?.message];
      }),
    });
  return strip(current?.status) !== strip(next);
}

function sorted(amounts: Readonly<Record<string, string>> | undefined): [string, string][] {
  return Object.entries(amounts ?? {}).sort(([left], [right]) => (left < right ? -1 : 1));
}

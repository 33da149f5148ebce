/**
 * One hollow node: its registration, status and lease, written with the identity of the node, and
 * the addresses of its pods.
 */
import { release } from 'node:os';
import type { ApiClient } from '@orch/client';
import { type Clock, dialect, type Logger, type Timer } from '@orch/component';
import type { Node, NodeStatus } from '@orch/types/core/v1';
import { nodesGroup, nodeUser } from '../certificates/node-certificates.js';
import { quantityValue } from '../environment/quantity.js';
import type { NodeAgentOptions } from '../node-agent-options.js';
import type { MachineInfo } from '../registration/machine-info.js';
import { NodeRegistration } from '../registration/node-registration.js';
import { nodeLabels, nodeStatus, podAddressAnnotation } from '../registration/node-status.js';
import { AddressPool } from '../runtimes/process/address-pool.js';
import { type HollowOptions, hollowPodRange } from './hollow-options.js';
import { hollowRuntimeName } from './hollow-pod-status.js';

export interface HollowNodeDependencies {
  readonly agent: NodeAgentOptions;
  readonly hollow: HollowOptions;
  /** The client of the process, from which that of the node derives. */
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

const runtime = { name: hollowRuntimeName, version: '1', localPodAddresses: false };
const diskBytes = 512 * 2 ** 30;

export class HollowNode {
  /** Sends requests as this node. */
  readonly client: ApiClient;
  readonly hostIp: string;
  readonly addresses: AddressPool;
  private readonly machine: MachineInfo;
  private readonly registration: NodeRegistration;
  private startTimer: Timer | undefined;

  constructor(
    private readonly dependencies: HollowNodeDependencies,
    readonly name: string,
    index: number,
  ) {
    const { agent, hollow, client, clock, logger } = dependencies;
    this.client = client.derive({ impersonate: { user: nodeUser(name), groups: [nodesGroup] } });
    this.addresses = new AddressPool(hollowPodRange(hollow.podRange, index, agent.maxPods));
    this.hostIp = this.addresses.gateway;
    this.machine = hollowMachine(name, hollow.capacity);
    this.registration = new NodeRegistration({
      client: this.client,
      clock,
      logger,
      nodeName: name,
      labels: nodeLabels(name, this.machine, { ...hollowLabel(), ...agent.nodeLabels }),
      annotations: podAddressAnnotation(runtime),
      podCidr: this.addresses.cidr,
      statusPeriodMs: agent.nodeStatusUpdateFrequencyMs,
      leaseDurationSeconds: agent.nodeLeaseDurationSeconds,
      status: async (current) => this.status(current),
    });
  }

  /** Registers the node after `delayMs`, so that the nodes of a process do not report together. */
  start(delayMs: number): void {
    const { clock } = this.dependencies;
    this.startTimer = clock.setTimer(delayMs, () => this.registration.start(clock.monotonicMs()));
  }

  stop(): void {
    this.startTimer?.cancel();
    this.registration.stop();
  }

  private status(current: Node | undefined): NodeStatus {
    const { agent, clock } = this.dependencies;
    const { cpu = '0', memory = '0' } = agent.systemReserved;
    return nodeStatus(
      {
        nodeName: this.name,
        hostname: this.name,
        addresses: [this.hostIp],
        port: 0,
        podCountMax: agent.maxPods,
        reserved: { cpuCores: quantityValue(cpu), memoryBytes: quantityValue(memory) },
        machine: this.machine,
        runtime,
        runtimeStatus: { runtimeReady: true, networkReady: true },
        pressure: { memory: false, disk: false, pid: false },
        nowMs: clock.nowMs(),
      },
      current,
    );
  }
}

/** Returns the label by which hollow nodes are selected. */
export function hollowLabel(): Record<string, string> {
  return { [dialect().key('hollow', 'node')]: 'true' };
}

function hollowMachine(
  name: string,
  { cpu = '32', memory = '128Gi' }: Readonly<Record<string, string>>,
): MachineInfo {
  const id = `hollow-${name}`;
  return {
    cpuCores: quantityValue(cpu),
    memoryBytes: quantityValue(memory),
    ephemeralStorageBytes: diskBytes,
    machineId: id,
    systemUuid: id,
    bootId: id,
    kernelVersion: release(),
    osImage: 'Hollow node',
    operatingSystem: 'linux',
    architecture: 'amd64',
  };
}

/**
 * The pod sandboxes of the process runtime: their records on disk and their addresses. A sandbox
 * record is saved before its id is returned, so that a restarted agent releases every address.
 */
import { mkdirSync } from 'node:fs';
import { type Clock, KeyedMutex } from '@orch/component';
import { sandboxCountMax } from '../../limits.js';
import {
  RuntimeError,
  type SandboxConfig,
  type SandboxId,
  type SandboxStatus,
} from '../container-runtime.js';
import type { Containers } from './containers.js';
import { newSandboxId } from './ids.js';
import type { PodNetwork } from './pod-network.js';
import type { RuntimeState, SandboxRecord } from './state.js';

export interface SandboxesDependencies {
  readonly state: RuntimeState;
  readonly containers: Containers;
  readonly clock: Clock;
  /** Returns the network in use; it is known once the runtime has started. */
  readonly network: () => PodNetwork;
}

export class Sandboxes {
  private readonly records = new Map<SandboxId, SandboxRecord>();
  private readonly mutex = new KeyedMutex();

  constructor(private readonly dependencies: SandboxesDependencies) {}

  /** Loads the records on disk and returns the addresses in use. */
  load(): Map<SandboxId, string> {
    const addresses = new Map<SandboxId, string>();
    for (const record of this.dependencies.state.loadSandboxes()) {
      this.records.set(record.id, record);
      if (record.address) addresses.set(record.id, record.address);
    }
    return addresses;
  }

  async create(config: SandboxConfig): Promise<SandboxId> {
    const { state, clock } = this.dependencies;
    if (this.records.size >= sandboxCountMax) {
      throw new RuntimeError('Exhausted', `more than ${sandboxCountMax} pod sandboxes`);
    }
    const id = newSandboxId();
    mkdirSync(config.logDirectory, { recursive: true, mode: 0o755 });
    const record: SandboxRecord = { id, config, createdAtMs: clock.nowMs(), stopped: false };
    const network = this.dependencies.network();
    if (!config.hostNetwork) record.address = await network.attach(id);
    try {
      state.saveSandbox(record);
    } catch (error) {
      if (record.address) await network.detach(id, record.address);
      throw error;
    }
    this.records.set(id, record);
    return id;
  }

  /** Kills the containers of the sandbox and releases its address. */
  async stop(id: SandboxId): Promise<void> {
    const { state, containers } = this.dependencies;
    await this.mutex.run(id, async () => {
      const record = this.records.get(id);
      if (!record) return;
      await Promise.all(containers.ids(id).map((container) => containers.terminate(container, 0)));
      if (record.stopped) return;
      if (record.address) await this.dependencies.network().detach(id, record.address);
      record.stopped = true;
      delete record.address;
      state.saveSandbox(record);
    });
  }

  async remove(id: SandboxId): Promise<void> {
    const { state, containers } = this.dependencies;
    await this.stop(id);
    await Promise.all(containers.ids(id).map((container) => containers.remove(container)));
    this.records.delete(id);
    state.removeSandbox(id);
  }

  async removeAll(): Promise<void> {
    await Promise.all([...this.records.keys()].map((id) => this.remove(id)));
  }

  /** Throws `NotFound`. */
  get(id: SandboxId): SandboxRecord {
    const record = this.records.get(id);
    if (!record) throw new RuntimeError('NotFound', `sandbox ${id} does not exist`);
    return record;
  }

  status(id: SandboxId): SandboxStatus {
    const { config, createdAtMs, stopped, address } = this.get(id);
    const network = this.dependencies.network();
    const attached = address === undefined || network.isAttached(id);
    return {
      id,
      pod: config.pod,
      attempt: config.attempt,
      state: !stopped && attached ? 'ready' : 'notReady',
      createdAtMs,
      ...(address === undefined ? {} : { podIp: address, localIp: network.localAddress(address) }),
    };
  }

  /** Returns the statuses of all sandboxes, or of those of one pod. */
  list(podUid?: string): SandboxStatus[] {
    return [...this.records.values()]
      .filter(({ config }) => podUid === undefined || config.pod.uid === podUid)
      .map(({ id }) => this.status(id));
  }
}

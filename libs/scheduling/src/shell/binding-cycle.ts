/**
 * The second half of an attempt, which runs beside the cycles of other pods: waits for permission,
 * binds the volumes, then the pod.
 */
import type { Clock } from '@orch/component';
import type { Cycle } from '../framework/cycle.js';
import type { Profile } from '../framework/profile.js';
import type { Binder } from './binder.js';
import type { Extenders } from './extenders/extenders.js';
import type { VolumeBinder } from './volume-binder.js';
import type { WaitingPods } from './waiting-pods.js';

/** The I/O of a plugin. It rejects to end the attempt, which is repeated later. */
export interface BindingPlugin {
  readonly preBind?: (cycle: Cycle, node: string, profile: Profile) => Promise<void>;
  /** Returns false to leave the binding to the next plugin. */
  readonly bind?: (cycle: Cycle, node: string) => Promise<boolean>;
  readonly postBind?: (cycle: Cycle, node: string) => void;
}

export interface BindingCycleDependencies {
  readonly binder: Binder;
  readonly volumeBinder: VolumeBinder;
  readonly extenders: Extenders;
  readonly waitingPods: WaitingPods;
  readonly clock: Clock;
  /** Whether the pod still counts on the node and the node exists. */
  readonly isWanted: (cycle: Cycle, node: string) => boolean;
}

export class BindingCycle {
  private readonly plugins: Readonly<Record<string, BindingPlugin>>;

  constructor(private readonly dependencies: BindingCycleDependencies) {
    const { binder, volumeBinder, isWanted } = dependencies;
    this.plugins = {
      VolumeBinding: {
        preBind: (cycle, node, { volumeBindTimeoutMs }) =>
          volumeBinder.bind(cycle, node, volumeBindTimeoutMs, () => isWanted(cycle, node)),
      },
      DefaultBinder: {
        bind: async (cycle, node) => {
          await binder.bind(cycle.pod.pod, node);
          return true;
        },
      },
    };
  }

  /** Resolves with the milliseconds that the binding itself took. */
  async run(
    cycle: Cycle,
    node: string,
    profile: Profile,
    permission: Promise<void> | undefined,
  ): Promise<number> {
    await permission;
    for (const name of profile.preBinds) {
      await this.plugins[name]?.preBind?.(cycle, node, profile);
    }
    const { clock, isWanted } = this.dependencies;
    if (!isWanted(cycle, node)) {
      throw new Error(`the pod or node ${node} was deleted before the binding`);
    }
    const startMs = clock.monotonicMs();
    await this.bind(cycle, node, profile);
    const durationMs = clock.monotonicMs() - startMs;
    for (const name of profile.postBinds) this.plugins[name]?.postBind?.(cycle, node);
    return durationMs;
  }

  private async bind(cycle: Cycle, node: string, profile: Profile): Promise<void> {
    const { pod } = cycle.pod;
    const extender = this.dependencies.extenders.binderOf(pod);
    if (extender) return extender.bind(pod, node);
    for (const name of profile.binds) {
      if (await this.plugins[name]?.bind?.(cycle, node)) return;
    }
    throw new Error(`no bind plugin of profile ${profile.schedulerName} bound the pod`);
  }
}

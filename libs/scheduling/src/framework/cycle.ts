/**
 * The state of one attempt to schedule a pod. Plugins compute their view of the cluster once and
 * store it here, so that the filters of thousands of nodes share it. A copy serves a simulation
 * in which pods are added to nodes or removed from them.
 */

import type { PersistentVolume, PersistentVolumeClaim } from '@orch/types/core/v1';
import type { Assumptions } from '../cache/assumptions.js';
import type { ClusterView } from '../cache/snapshot.js';
import type { ClusterObjects } from '../model/cluster-objects.js';
import type { PodInfo } from '../model/pod-info.js';

/** Volumes by name and claims by key, as reservations change them. */
export interface VolumeAssumptions {
  readonly volumes: Assumptions<PersistentVolume>;
  readonly claims: Assumptions<PersistentVolumeClaim>;
}

/** The pods that are nominated to run on a node but not yet assigned to it. */
export interface NominatedPods {
  readonly size: number;
  on(node: string): readonly PodInfo[];
}

/** The state that a decision may depend on, apart from the pod. */
export interface CycleContext {
  readonly cluster: ClusterView;
  readonly objects: ClusterObjects;
  /** Only reservations change it. */
  readonly assumptions: VolumeAssumptions;
  readonly nominated: NominatedPods;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Identifies a value of type `T` in the state of a cycle. */
export class StateKey<T> {
  /** @param clone copies a value that simulations change. */
  constructor(
    readonly name: string,
    readonly clone: (value: T) => T = (value) => value,
  ) {}
}

export class Cycle {
  private readonly state = new Map<StateKey<unknown>, unknown>();

  constructor(
    readonly pod: PodInfo,
    readonly context: CycleContext,
  ) {}

  /** Returns the value under the key, which is computed on first use. */
  once<T>(key: StateKey<T>, compute: () => T): T {
    const anyKey = key as StateKey<unknown>;
    if (!this.state.has(anyKey)) this.state.set(anyKey, compute());
    // The key fixes the type of its value.
    return this.state.get(anyKey) as T;
  }

  /** Returns the value under the key; undefined if it has not been computed. */
  get<T>(key: StateKey<T>): T | undefined {
    return this.state.get(key as StateKey<unknown>) as T | undefined;
  }

  /** Returns a copy whose values can be changed for a simulation. */
  clone(): Cycle {
    const copy = new Cycle(this.pod, this.context);
    for (const [key, value] of this.state) copy.state.set(key, key.clone(value));
    return copy;
  }
}

/**
 * Pods that no node admits, indexed by the plugins that rejected them, so that an event examines
 * only the pods that it may concern. A pod that no plugin rejected is under the empty name.
 */
export interface RejectedPod {
  readonly key: string;
  readonly rejectedBy: ReadonlySet<string>;
}

const noPlugin = '';

export class UnschedulablePods<T extends RejectedPod> {
  private readonly pods = new Map<string, T>();
  private readonly byPlugin = new Map<string, Set<string>>();

  get size(): number {
    return this.pods.size;
  }

  get(key: string): T | undefined {
    return this.pods.get(key);
  }

  values(): Iterable<T> {
    return this.pods.values();
  }

  set(pod: T): void {
    this.delete(pod.key);
    this.pods.set(pod.key, pod);
    for (const plugin of indexed(pod)) {
      let keys = this.byPlugin.get(plugin);
      if (!keys) {
        keys = new Set();
        this.byPlugin.set(plugin, keys);
      }
      keys.add(pod.key);
    }
  }

  delete(key: string): T | undefined {
    const pod = this.pods.get(key);
    if (!pod) return undefined;
    this.pods.delete(key);
    for (const plugin of indexed(pod)) this.byPlugin.get(plugin)?.delete(key);
    return pod;
  }

  /** Returns the pods that one of the plugins rejected, and the pods without such a plugin. */
  rejectedBy(plugins: Iterable<string>): T[] {
    const keys = new Set<string>();
    for (const plugin of [noPlugin, ...plugins]) {
      for (const key of this.byPlugin.get(plugin) ?? []) keys.add(key);
    }
    return [...keys].map((key) => this.pods.get(key)!);
  }
}

function indexed({ rejectedBy }: RejectedPod): Iterable<string> {
  return rejectedBy.size > 0 ? rejectedBy : [noPlugin];
}

/** Counts or weights by topology domain: topology key -> value -> amount. */
import type { NodeInfo } from '../model/node-info.js';

export class TopologyAmounts {
  private readonly byKey = new Map<string, Map<string, number>>();

  /** Whether no amount was added, or all were removed again. */
  get isEmpty(): boolean {
    return this.byKey.size === 0;
  }

  clone(): TopologyAmounts {
    const copy = new TopologyAmounts();
    for (const [key, values] of this.byKey) copy.byKey.set(key, new Map(values));
    return copy;
  }

  add(node: NodeInfo, topologyKey: string, amount: number): void {
    const value = node.labels[topologyKey];
    if (value === undefined) return;
    let values = this.byKey.get(topologyKey);
    if (!values) {
      values = new Map();
      this.byKey.set(topologyKey, values);
    }
    const sum = (values.get(value) ?? 0) + amount;
    if (sum !== 0) values.set(value, sum);
    else {
      values.delete(value);
      if (values.size === 0) this.byKey.delete(topologyKey);
    }
  }

  /** Returns the amount in the node's domain. */
  get(node: NodeInfo, topologyKey: string): number {
    const value = node.labels[topologyKey];
    return value === undefined ? 0 : (this.byKey.get(topologyKey)?.get(value) ?? 0);
  }

  /** Returns the sum of the amounts in the node's domains over all keys. */
  sum(node: NodeInfo): number {
    let sum = 0;
    for (const [key, values] of this.byKey) {
      const value = node.labels[key];
      if (value !== undefined) sum += values.get(value) ?? 0;
    }
    return sum;
  }
}

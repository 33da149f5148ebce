/** The quotas of a namespace, as read, with the usage after the decisions of a batch. */
import { objectOf } from '@orch/registry';
import type { Entry } from '@orch/store';
import type { ResourceQuota } from '@orch/types/core/v1';

export type Usage = Record<string, string>;

export interface QuotaRow {
  readonly entry: Entry;
  readonly quota: ResourceQuota;
}

export class QuotaLedger {
  private readonly rows: Map<string, QuotaRow>;

  constructor(entries: readonly Entry[]) {
    this.rows = new Map(
      entries.map((entry) => [entry.key, { entry, quota: objectOf<ResourceQuota>(entry) }]),
    );
  }

  quotas(): ResourceQuota[] {
    return [...this.rows.values()].map(({ quota }) => quota);
  }

  /** Undefined if the quota does not exist. */
  row(key: string): QuotaRow | undefined {
    return this.rows.get(key);
  }

  setUsage(key: string, used: Usage): void {
    const { entry, quota } = this.rows.get(key)!;
    this.rows.set(key, { entry, quota: { ...quota, status: { ...quota.status, used } } });
  }

  /** The rows whose usage was set. */
  changed(): QuotaRow[] {
    return [...this.rows.values()].filter(
      ({ entry, quota }) => quota !== objectOf<ResourceQuota>(entry),
    );
  }
}

/**
 * Keeps the RBAC policy of this replica equal to the roles and bindings of its store. The store
 * reports changes when it applies them, so the policy includes each write that this server has
 * acknowledged.
 */
import type { Clock, Logger } from '@orch/component';
import { FollowedPrefix, objectOf, type PrefixObserver, type ResourceTable } from '@orch/registry';
import type { RbacPolicy } from '@orch/security';
import type { Entry, StoreReader, WatchEvent } from '@orch/store';
import type {
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
} from '@orch/types/rbac.authorization/v1';

export interface FollowedRolesDependencies {
  readonly store: StoreReader;
  readonly table: ResourceTable;
  readonly policy: RbacPolicy;
  readonly clock: Clock;
  readonly logger: Logger;
}

const groupHead = 'rbac.authorization';

export class FollowedRoles {
  private readonly kinds: readonly FollowedKind<never>[];
  private readonly followed: readonly FollowedPrefix[];

  constructor(private readonly dependencies: FollowedRolesDependencies) {
    const { store, table, policy, logger } = dependencies;
    const roles: Changes<ClusterRole | Role> = {
      set: (namespace, name, role) => policy.setRole(namespace, name, role),
      delete: (namespace, name) => policy.deleteRole(namespace, name),
    };
    const bindings: Changes<ClusterRoleBinding | RoleBinding> = {
      set: (namespace, name, binding) => policy.setBinding(namespace, name, binding),
      delete: (namespace, name) => policy.deleteBinding(namespace, name),
    };
    const sources = {
      clusterroles: new FollowedKind(roles, () => this.update()),
      roles: new FollowedKind(roles, () => this.update()),
      clusterrolebindings: new FollowedKind(bindings, () => this.update()),
      rolebindings: new FollowedKind(bindings, () => this.update()),
    };
    this.kinds = Object.values(sources);
    this.followed = Object.entries(sources).map(([name, observer]) => {
      const prefix = table.stored(groupHead, name)!.keyPrefix;
      return new FollowedPrefix({ store, prefix, name, observer, logger });
    });
  }

  start(): void {
    for (const followed of this.followed) followed.start();
  }

  stop(): void {
    for (const followed of this.followed) followed.stop();
  }

  /** Resolves when the policy has every write committed before the call. Throws StoreError. */
  async refresh(deadlineMs: number): Promise<void> {
    const { store, table, clock } = this.dependencies;
    const timeoutMs = Math.max(1, deadlineMs - clock.monotonicMs());
    const { keyPrefix } = table.stored(groupHead, 'clusterroles')!;
    await store.get(`${keyPrefix}any`, { consistency: { kind: 'quorum' }, timeoutMs });
  }

  private update(): void {
    this.dependencies.policy.isSynced = this.kinds.every(({ isRead }) => isRead);
  }
}

interface Changes<T> {
  set(namespace: string, name: string, object: T): void;
  delete(namespace: string, name: string): void;
}

class FollowedKind<T extends ClusterRole | Role | ClusterRoleBinding | RoleBinding>
  implements PrefixObserver
{
  isRead = false;
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly changes: Changes<T>,
    private readonly onRead: () => void,
  ) {}

  replaced(entries: readonly Entry[]): void {
    const present = new Set(entries.map(({ key }) => key));
    for (const [key, entry] of this.entries) if (!present.has(key)) this.delete(entry);
    for (const entry of entries) this.set(entry);
    this.isRead = true;
    this.onRead();
  }

  changed(events: readonly WatchEvent[]): void {
    for (const { kind, entry } of events) {
      if (kind === 'put') this.set(entry);
      else this.delete(entry);
    }
  }

  private set(entry: Entry): void {
    const object = objectOf(entry) as T;
    const { namespace = '', name = '' } = object.metadata ?? {};
    this.entries.set(entry.key, entry);
    this.changes.set(namespace, name, object);
  }

  private delete(entry: Entry): void {
    const { namespace = '', name = '' } = objectOf(entry).metadata ?? {};
    this.entries.delete(entry.key);
    this.changes.delete(namespace, name);
  }
}

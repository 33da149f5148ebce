/**
 * Rejects creates in namespaces that do not exist or are being deleted, and deletes of the
 * namespaces that the system needs.
 */
import { forbiddenObject, notFound } from '@orch/apimachinery';
import { type Clock, dialect } from '@orch/component';
import type { AdmissionPlugin, AdmissionRequest, Resource } from '@orch/registry';
import { objectOf } from '@orch/registry';
import type { Entry, Operation, StoreReader } from '@orch/store';
import type { PluginDeclaration } from '../plugin.js';
import { requestedName } from '../rule.js';

export const namespaceLifecycle: PluginDeclaration = {
  name: 'NamespaceLifecycle',
  isDefault: true,
  create({ store, table, clock }) {
    const namespaces = table.stored('core', 'namespaces');
    if (!namespaces) throw new Error('namespaces are not registered');
    return new NamespaceLifecycle(store, clock, namespaces);
  },
};

class NamespaceLifecycle implements AdmissionPlugin {
  readonly name = 'NamespaceLifecycle';
  private readonly immortal: ReadonlySet<string>;

  constructor(
    private readonly store: StoreReader,
    private readonly clock: Clock,
    private readonly namespaces: Resource,
  ) {
    const { systemNamespace, publicNamespace } = dialect();
    this.immortal = new Set(['default', systemNamespace, publicNamespace]);
  }

  async mutate(request: AdmissionRequest): Promise<void> {
    await this.activeNamespace(request);
  }

  /** Checks that no other server has started to delete the namespace in the meantime. */
  async expectations(request: AdmissionRequest): Promise<Operation[]> {
    const entry = await this.activeNamespace(request);
    if (!entry) return [];
    const { key, revision } = entry;
    return [{ kind: 'check', key, expect: { kind: 'revision', revision } }];
  }

  validate(request: AdmissionRequest): void {
    const isNamespace = request.served.resource === this.namespaces;
    if (request.operation !== 'DELETE' || !isNamespace || !this.immortal.has(request.name)) return;
    throw forbiddenObject(
      request.served.groupResource,
      request.name,
      'this namespace may not be deleted',
    );
  }

  /** The namespace of a create; undefined for other requests. Throws 404 and 403. */
  private async activeNamespace(request: AdmissionRequest): Promise<Entry | undefined> {
    if (request.operation !== 'CREATE' || request.namespace === '') return undefined;
    const { definition } = request.served;
    // An access review must not reveal whether a namespace exists.
    if (!definition.namespaced || definition.stored.group === 'authorization') return undefined;
    const entry = await this.namespaceEntry(request);
    const { groupResource } = request.served;
    if (!entry) throw notFound({ group: '', resource: 'namespaces' }, request.namespace);
    if (objectOf(entry).metadata?.deletionTimestamp === undefined) return entry;
    throw forbiddenObject(
      groupResource,
      requestedName(request),
      `unable to create new content in namespace ${request.namespace} because it is being terminated`,
      [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${request.namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    );
  }

  /** Memory is read first; that the namespace is missing is confirmed by a quorum read. */
  private async namespaceEntry(request: AdmissionRequest): Promise<Entry | undefined> {
    const key = this.namespaces.key('', request.namespace);
    const timeoutMs = Math.max(1, request.context.deadlineMs - this.clock.monotonicMs());
    const { entry } = await this.store.get(key, { consistency: { kind: 'any' }, timeoutMs });
    if (entry) return entry;
    return (await this.store.get(key, { consistency: { kind: 'quorum' }, timeoutMs })).entry;
  }
}

/**
 * Objects are created only in namespaces that exist and are not on their way out, and namespaces the
 * system cannot do without are never deleted.
 */
import { refusedName } from '@orch/api';
import { forbiddenObject, notFound } from '@orch/apimachinery';
import { type Clock, dialect } from '@orch/component';
import type { Entry, Operation, VersionedStore } from '@orch/store';
import { objectOf } from '../registry/entry-view.js';
import type { Resource } from '../registry/resource.js';
import type { AdmissionPlugin, AdmissionRequest } from './admission.js';

export class NamespaceLifecycle implements AdmissionPlugin {
  readonly name = 'NamespaceLifecycle';
  private readonly immortal: ReadonlySet<string>;

  constructor(
    private readonly store: VersionedStore,
    private readonly clock: Clock,
    private readonly namespaces: Resource,
  ) {
    const { systemNamespace, publicNamespace } = dialect();
    this.immortal = new Set(['default', systemNamespace, publicNamespace]);
  }

  async mutate(request: AdmissionRequest): Promise<void> {
    await this.activeNamespace(request);
  }

  /** The namespace is as it was when it was looked at: it has not begun to end on another server. */
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

  /** Of an object to be created in one, undefined for others. Throws 404 and 403. */
  private async activeNamespace(request: AdmissionRequest): Promise<Entry | undefined> {
    if (request.operation !== 'CREATE' || request.namespace === '') return undefined;
    if (!request.served.definition.namespaced) return undefined;
    const entry = await this.namespaceEntry(request);
    const { groupResource } = request.served;
    if (!entry) throw notFound({ group: '', resource: 'namespaces' }, request.namespace);
    if (objectOf(entry).metadata?.deletionTimestamp === undefined) return entry;
    throw forbiddenObject(
      groupResource,
      refusedName(request),
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

  /** Memory first; that a namespace is missing is believed of a quorum only. */
  private async namespaceEntry(request: AdmissionRequest): Promise<Entry | undefined> {
    const key = this.namespaces.key('', request.namespace);
    const timeoutMs = Math.max(1, request.deadlineMs - this.clock.monotonicMs());
    const { entry } = await this.store.get(key, { consistency: { kind: 'any' }, timeoutMs });
    if (entry) return entry;
    return (await this.store.get(key, { consistency: { kind: 'quorum' }, timeoutMs })).entry;
  }
}

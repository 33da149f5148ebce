/**
 * Keeps a config map with the authority of the API's certificate in every active namespace, so that pods
 * can check whom they talk to. What others change or delete in it is put right.
 */
import {
  type Informer,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  keyOf,
  resources,
  type WorkQueue,
} from '@orch/client';
import { dialect } from '@orch/component';
import type { ConfigMap, Namespace } from '@orch/types/core/v1';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';

const authorityKey = 'ca.crt';

export class RootCaPublisher implements Controller {
  private readonly configMapName = dialect().systemName('root-ca.crt');
  private readonly namespaces: Informer<Namespace>;
  private readonly configMaps: Informer<ConfigMap>;
  private readonly queue: WorkQueue;

  constructor(
    private readonly context: ControllerContext,
    private readonly authorityPem: string,
    private readonly workerCount: number,
  ) {
    this.namespaces = context.informers.informer(resources.namespaces);
    this.configMaps = context.informers.informer(resources.configMaps, {
      fieldSelector: `metadata.name=${this.configMapName}`,
    });
    this.queue = queueFor(context, 'root_ca_publisher');
    this.namespaces.addHandlers({
      onAdd: (namespace) => this.queue.add(namespace.metadata?.name ?? ''),
      onUpdate: (namespace) => this.queue.add(namespace.metadata?.name ?? ''),
    });
    this.configMaps.addHandlers({
      onUpdate: (configMap) => this.queue.add(configMap.metadata?.namespace ?? ''),
      onDelete: (configMap) => this.queue.add(configMap.metadata?.namespace ?? ''),
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return workOff(this.queue, this.workerCount, signal, (key) => this.reconcile(key));
  }

  private async reconcile(namespaceName: string): Promise<undefined> {
    const namespace = this.namespaces.lister.get(namespaceName);
    if (!namespace || namespace.metadata?.deletionTimestamp) return;
    if (namespace.status?.phase === 'Terminating') return;
    const { configMapName: name, authorityPem } = this;
    const existing = this.configMaps.lister.get(keyOf(namespaceName, name));
    const client = this.context.client.resource(resources.configMaps, namespaceName);
    const data = { [authorityKey]: authorityPem };
    try {
      if (!existing) await client.create({ metadata: { name, namespace: namespaceName }, data });
      else if (!isPublished(existing, authorityPem)) await client.replace({ ...existing, data });
    } catch (error) {
      // Lost against another writer or a deletion: the watch brings the outcome and the next look.
      const isSettled =
        isAlreadyExists(error) ||
        isConflict(error) ||
        isNamespaceTerminating(error) ||
        isNotFound(error);
      if (!isSettled) throw error;
    }
  }
}

function isPublished({ data = {} }: ConfigMap, authorityPem: string): boolean {
  return data[authorityKey] === authorityPem && Object.keys(data).length === 1;
}

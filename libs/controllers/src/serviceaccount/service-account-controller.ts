/** Gives every active namespace its `default` service account, and gives it back when it is deleted. */
import {
  type Informer,
  isAlreadyExists,
  isNamespaceTerminating,
  isNotFound,
  keyOf,
  resources,
  type WorkQueue,
} from '@orch/client';
import type { Namespace, ServiceAccount } from '@orch/types/core/v1';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';

const accountName = 'default';

export class ServiceAccountController implements Controller {
  private readonly namespaces: Informer<Namespace>;
  private readonly accounts: Informer<ServiceAccount>;
  private readonly queue: WorkQueue;

  constructor(
    private readonly context: ControllerContext,
    private readonly workerCount: number,
  ) {
    this.namespaces = context.informers.informer(resources.namespaces);
    this.accounts = context.informers.informer(resources.serviceAccounts);
    this.queue = queueFor(context, 'serviceaccount');
    this.namespaces.addHandlers({
      onAdd: (namespace) => this.queue.add(namespace.metadata?.name ?? ''),
      onUpdate: (namespace) => this.queue.add(namespace.metadata?.name ?? ''),
    });
    this.accounts.addHandlers({
      onDelete: (account) => this.queue.add(account.metadata?.namespace ?? ''),
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return workOff(this.queue, this.workerCount, signal, (key) => this.reconcile(key));
  }

  private async reconcile(namespaceName: string): Promise<undefined> {
    const namespace = this.namespaces.lister.get(namespaceName);
    if (!namespace || namespace.metadata?.deletionTimestamp) return;
    if (namespace.status?.phase === 'Terminating') return;
    if (this.accounts.lister.get(keyOf(namespaceName, accountName))) return;
    try {
      await this.context.client
        .resource(resources.serviceAccounts, namespaceName)
        .create({ metadata: { name: accountName, namespace: namespaceName } });
    } catch (error) {
      const isSettled =
        isAlreadyExists(error) || isNamespaceTerminating(error) || isNotFound(error);
      if (!isSettled) throw error;
    }
  }
}

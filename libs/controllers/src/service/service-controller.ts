/**
 * Gives services of type LoadBalancer their load balancer through the provider, and writes its
 * addresses to their status. A finalizer keeps a service until its load balancer is deleted.
 */
import {
  type EventRecorder,
  type Informer,
  isConflict,
  isNotFound,
  objectKey,
  resources,
} from '@orch/client';
import type { LoadBalancerStatus, Service } from '@orch/types/core/v1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring, messageOf } from '../common/expected-errors.js';
import { limits } from '../limits.js';
import { createProvider } from '../provider/create-provider.js';
import {
  cleanupFinalizer,
  hasCleanupFinalizer,
  wantsLoadBalancer,
} from '../provider/load-balanced-services.js';
import { type LoadBalancers, ProviderError } from '../provider/provider.js';
import { changeOf, fingerprintOf } from './service-changes.js';

export const serviceController: ControllerFactory = (context, { provider: options }) => {
  const loadBalancers = createProvider(context, options)?.loadBalancers;
  if (!loadBalancers) return undefined;
  const reconciler = new ServiceReconciler(context, loadBalancers);
  const built = controller('service', context)
    .workers(options.serviceSyncs)
    .for(resources.services, {
      update: (service, old) => {
        reconciler.recordChange(service, old);
        return true;
      },
    });
  reconciler.watch((key) => built.queue.add(key));
  return built.reconcile((key) => reconciler.reconcile(key));
};

class ServiceReconciler {
  private readonly services: Informer<Service>;
  private readonly recorder: EventRecorder;
  /** What each load balancer was last created from, with its addresses. */
  private readonly ensured = new Map<string, string>();
  /** Keys of services whose load balancer is not possible at present. */
  private readonly waiting = new Set<string>();

  constructor(
    private readonly context: ControllerContext,
    private readonly loadBalancers: LoadBalancers,
  ) {
    this.services = context.informers.informer(resources.services);
    this.recorder = context.recorder('service-controller');
  }

  /** `enqueue` is called for services whose load balancer may have become possible. */
  watch(enqueue: (key: string) => void): void {
    this.loadBalancers.watch(() => {
      const keys = [...this.waiting];
      this.waiting.clear();
      for (const key of keys) enqueue(key);
    });
  }

  recordChange(service: Service, old: Service): void {
    if (!wantsLoadBalancer(service) && !wantsLoadBalancer(old)) return;
    for (const { reason, message } of changeOf(service, old)) this.event(service, reason, message);
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    this.waiting.delete(key);
    const service = this.services.lister.get(key);
    if (!service) {
      this.ensured.delete(key);
      return done;
    }
    try {
      if (wantsLoadBalancer(service)) await this.ensure(key, service);
      else if (hasCleanupFinalizer(service)) await this.delete(key, service);
      return done;
    } catch (error) {
      if (isConflict(error)) throw error;
      const message = `Error syncing load balancer: ${messageOf(error)}`;
      this.recorder.event(regarding(service), 'Warning', 'SyncLoadBalancerFailed', message);
      if (!(error instanceof ProviderError)) throw error;
      this.waiting.add(key);
      return { requeueAfterMs: limits.loadBalancerRetryMs };
    }
  }

  private async ensure(key: string, service: Service): Promise<void> {
    const current = fingerprintOf(service, service.status?.loadBalancer);
    if (hasCleanupFinalizer(service) && this.ensured.get(key) === current) return;
    this.event(service, 'EnsuringLoadBalancer', 'Ensuring load balancer');
    let status: LoadBalancerStatus;
    try {
      status = await this.loadBalancers.ensure(service);
    } catch (error) {
      throw withPrefix('failed to ensure load balancer', error);
    }
    const finalizers = service.metadata?.finalizers ?? [];
    const withCleanup = hasCleanupFinalizer(service)
      ? finalizers
      : [...finalizers, cleanupFinalizer()];
    if (!(await this.write(service, withCleanup, status))) return;
    this.ensured.set(key, fingerprintOf(service, status));
    this.event(service, 'EnsuredLoadBalancer', 'Ensured load balancer');
  }

  private async delete(key: string, service: Service): Promise<void> {
    this.ensured.delete(key);
    try {
      if (await this.loadBalancers.exists(service)) {
        this.event(service, 'DeletingLoadBalancer', 'Deleting load balancer');
        await this.loadBalancers.delete(service);
      }
    } catch (error) {
      throw withPrefix('failed to delete load balancer', error);
    }
    const finalizers = service.metadata?.finalizers ?? [];
    const remaining = finalizers.filter((finalizer) => finalizer !== cleanupFinalizer());
    if (!(await this.write(service, remaining, {}))) return;
    this.event(service, 'DeletedLoadBalancer', 'Deleted load balancer');
  }

  /** @returns false if the service no longer exists. */
  private async write(
    service: Service,
    finalizers: readonly string[],
    { ingress = [] }: LoadBalancerStatus,
  ): Promise<boolean> {
    const { name = '', namespace, resourceVersion } = service.metadata ?? {};
    const metadata = { resourceVersion, finalizers };
    const patched = this.context.client
      .resource(resources.services, namespace)
      .patchStatus(name, { metadata, status: { loadBalancer: { ingress } } }, { type: 'merge' });
    if (!(await ignoring(patched, isNotFound))) return false;
    const addresses = ingress.map(({ ip }) => ip);
    this.context.logger.info({ service: objectKey(service), addresses }, 'load balancer written');
    return true;
  }

  private event(service: Service, reason: string, message: string): void {
    this.recorder.event(regarding(service), 'Normal', reason, message);
  }
}

function regarding(service: Service): Service {
  return { ...service, apiVersion: 'v1', kind: 'Service' };
}

function withPrefix(text: string, cause: unknown): Error {
  const message = `${text}: ${messageOf(cause)}`;
  return cause instanceof ProviderError
    ? new ProviderError(message, { cause })
    : new Error(message, { cause });
}

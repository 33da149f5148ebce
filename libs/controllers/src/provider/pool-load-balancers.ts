/**
 * Load balancers of machines without a cloud: an address of a configured pool for each service,
 * which the service proxies of the nodes serve. The status of the services stores which one has
 * which address; the pool is rebuilt from it at the start.
 */
import { type Informer, objectKey, resources } from '@orch/client';
import type { LoadBalancerStatus, Service } from '@orch/types/core/v1';
import type { ControllerContext } from '../common/controller.js';
import { AddressPool, type AddressRange } from './address-pool.js';
import { wantsLoadBalancer } from './load-balanced-services.js';
import { type LoadBalancers, ProviderError } from './provider.js';

export class PoolLoadBalancers implements LoadBalancers {
  private readonly services: Informer<Service>;
  private readonly pool: AddressPool;
  private released: () => void = () => undefined;

  constructor(context: ControllerContext, ranges: readonly AddressRange[]) {
    this.pool = new AddressPool(ranges);
    this.services = context.informers.informer(resources.services);
  }

  watch(released: () => void): void {
    this.released = released;
    this.services.addHandlers({
      onAdd: (service) => this.observe(service),
      onUpdate: (service) => {
        if (this.observe(service)) released();
      },
      onDelete: (service) => {
        if (this.pool.free(objectKey(service))) released();
      },
    });
  }

  async exists(service: Service): Promise<boolean> {
    return this.pool.addressOf(objectKey(service)) !== undefined;
  }

  async ensure(service: Service): Promise<LoadBalancerStatus> {
    const { clusterIP = '', loadBalancerIP = '' } = service.spec ?? {};
    if (clusterIP.includes(':')) {
      throw new ProviderError('the pool has only IPv4 addresses, the service is an IPv6 one');
    }
    const ip =
      loadBalancerIP === '' ? this.allocated(service) : this.requested(service, loadBalancerIP);
    return { ingress: [{ ip }] };
  }

  async delete(service: Service): Promise<void> {
    if (this.pool.free(objectKey(service))) this.released();
  }

  private allocated(service: Service): string {
    const address = this.pool.allocate(objectKey(service));
    if (address !== undefined) return address;
    throw new ProviderError('all addresses of the pool are in use');
  }

  private requested(service: Service, address: string): string {
    const key = objectKey(service);
    if (this.pool.hold(key, address)) return address;
    const holder = this.pool.holderOf(address);
    throw new ProviderError(
      holder === undefined
        ? `the pool does not contain the address ${address}`
        : `the address ${address} belongs to service ${holder}`,
    );
  }

  /**
   * Takes over the address in the status of a service. An allocated address may be missing there
   * until it is written. @returns whether an address became free.
   */
  private observe(service: Service): boolean {
    const key = objectKey(service);
    const [ingress] = service.status?.loadBalancer?.ingress ?? [];
    if (!wantsLoadBalancer(service)) return ingress === undefined && this.pool.free(key);
    if (ingress?.ip && this.pool.addressOf(key) === undefined) this.pool.hold(key, ingress.ip);
    return false;
  }
}

/**
 * What a provider does for the cluster. A provider without load balancers, machines or routes
 * leaves the property out, and the controllers that need it do not run.
 */
import type { LoadBalancerStatus, Node, Service } from '@orch/types/core/v1';

export interface Provider {
  readonly loadBalancers?: LoadBalancers;
  readonly machines?: Machines;
  readonly routes?: Routes;
}

export interface LoadBalancers {
  /** Calls `released` when a load balancer that could not be created before may be possible. */
  watch(released: () => void): void;
  /** Whether a load balancer exists for the service. */
  exists(service: Service): Promise<boolean>;
  /**
   * Creates or updates the load balancer. Idempotent. @returns the addresses under which clients
   * reach it. Rejects with `ProviderError` if it is not possible at present.
   */
  ensure(service: Service): Promise<LoadBalancerStatus>;
  /** Deletes the load balancer, if it exists. */
  delete(service: Service): Promise<void>;
}

export interface Machines {
  /** Returns the state of the machine of the node; undefined if it does not exist. */
  find(node: Node): Promise<Machine | undefined>;
}

export interface Machine {
  /** Whether the machine is switched off on purpose and will return. */
  readonly isShutDown: boolean;
}

/** Routes to the pods of nodes, of the cluster that `--cluster-name` names. */
export interface Routes {
  list(): Promise<readonly Route[]>;
  /** Creates the route; idempotent. */
  create(route: Route): Promise<void>;
  /** Deletes the route, if it exists. */
  delete(route: Route): Promise<void>;
}

export interface Route {
  readonly nodeName: string;
  /** A range of pods, as a CIDR. */
  readonly destination: string;
}

/** A request that fails until a user or another service changes something. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly code = 'unavailable';
}

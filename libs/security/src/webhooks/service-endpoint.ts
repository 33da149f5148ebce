/** The endpoints of webhooks that are services of the cluster. */

export interface ServiceEndpoint {
  readonly host: string;
  readonly port: number;
}

/** Chooses an endpoint of a service. Rejects if it has none. */
export type ServiceResolver = (
  service: { readonly namespace: string; readonly name: string; readonly port: number },
  timeoutMs: number,
) => Promise<ServiceEndpoint>;

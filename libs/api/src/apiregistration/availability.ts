/** Computes the Available condition of an API service. */
import { conditionOf } from '@orch/apimachinery';
import type { APIService, APIServiceCondition } from '@orch/types/apiregistration/v1';
import type { Endpoints, Service } from '@orch/types/core/v1';

const available = 'Available';
const defaultPort = 443;

export type Availability = Pick<APIServiceCondition, 'status' | 'reason' | 'message'>;

export const localAvailability: Availability = {
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
};

function missing(reason: string, message: string): Availability {
  return { status: 'False', reason, message };
}

/**
 * Why the service of an aggregated server has no address; undefined: it has one. `service` and
 * `endpoints`: the referenced objects, if they exist.
 */
export function missingAddress(
  reference: NonNullable<NonNullable<APIService['spec']>['service']>,
  service: Service | undefined,
  endpoints: Endpoints | undefined,
): Availability | undefined {
  const { name = '', namespace = '', port = defaultPort } = reference;
  const where = `service/${name} in ${JSON.stringify(namespace)}`;
  if (!service) return missing('ServiceNotFound', `${where} is not present`);
  if (service.spec?.type === 'ClusterIP') {
    const served = service.spec.ports?.find((servicePort) => servicePort.port === port);
    if (!served) return missing('ServicePortError', `${where} is not listening on port ${port}`);
    if (!endpoints) return missing('EndpointsNotFound', `cannot find endpoints for ${where}`);
    const portName = served.name ?? '';
    const isReady = endpoints.subsets?.some(
      ({ addresses = [], ports = [] }) =>
        addresses.length > 0 &&
        ports.some((endpointPort) => (endpointPort.name ?? '') === portName),
    );
    if (!isReady) {
      return missing(
        'MissingEndpoints',
        `endpoints for ${where} have no addresses with port name ${JSON.stringify(portName)}`,
      );
    }
  }
  return undefined;
}

/** Availability of an aggregated server whose service has an address. */
export function discoveredAvailability(failure: string | undefined): Availability {
  return failure === undefined
    ? { status: 'True', reason: 'Passed', message: 'all checks passed' }
    : missing('FailedDiscoveryCheck', failure);
}

/**
 * The condition to write; undefined if it is up to date. The transition time changes only with the
 * status. `now`: RFC 3339, seconds.
 */
export function availabilityCondition(
  { status }: APIService,
  current: Availability,
  now: string,
): APIServiceCondition | undefined {
  const old = conditionOf(status?.conditions, available);
  const isSameStatus = old?.status === current.status;
  if (isSameStatus && old.reason === current.reason && old.message === current.message) {
    return undefined;
  }
  const lastTransitionTime = isSameStatus ? (old.lastTransitionTime ?? now) : now;
  return { type: available, ...current, lastTransitionTime };
}

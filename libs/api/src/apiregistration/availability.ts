/** Whether an API service can be used, as its condition says it. */
import { conditionOf } from '@orch/apimachinery';
import type { APIService, APIServiceCondition } from '@orch/types/apiregistration/v1';
import type { Endpoints, Service } from '@orch/types/core/v1';

const available = 'Available';
const defaultPort = 443;

type Availability = Pick<APIServiceCondition, 'status' | 'reason' | 'message'>;

const localAvailability: Availability = {
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
};

function missing(reason: string, message: string): Availability {
  return { status: 'False', reason, message };
}

/** Of one that another server answers for: `service` and `endpoints` are those it names, if they exist. */
function remoteAvailability(
  reference: NonNullable<NonNullable<APIService['spec']>['service']>,
  service: Service | undefined,
  endpoints: Endpoints | undefined,
): Availability {
  const { name = '', namespace = '', port = defaultPort } = reference;
  const where = `service/${name} in ${JSON.stringify(namespace)}`;
  if (!service) return missing('ServiceNotFound', `${where} is not present`);
  if (service.spec?.type === 'ClusterIP') {
    const served = service.spec.ports?.find((one) => one.port === port);
    if (!served) return missing('ServicePortError', `${where} is not listening on port ${port}`);
    if (!endpoints) return missing('EndpointsNotFound', `cannot find endpoints for ${where}`);
    const portName = served.name ?? '';
    const isReady = endpoints.subsets?.some(
      ({ addresses = [], ports = [] }) =>
        addresses.length > 0 && ports.some((one) => (one.name ?? '') === portName),
    );
    if (!isReady) {
      return missing(
        'MissingEndpoints',
        `endpoints for ${where} have no addresses with port name ${JSON.stringify(portName)}`,
      );
    }
  }
  return missing('FailedDiscoveryCheck', 'this server does not pass requests on to other servers');
}

/**
 * The condition to write; undefined when it is there already. The time of the last transition stays where
 * the status does. `now`: RFC 3339, seconds.
 */
export function availabilityCondition(
  { spec, status }: APIService,
  service: Service | undefined,
  endpoints: Endpoints | undefined,
  now: string,
): APIServiceCondition | undefined {
  const wanted = spec?.service
    ? remoteAvailability(spec.service, service, endpoints)
    : localAvailability;
  const old = conditionOf(status?.conditions, available);
  const isSameStatus = old?.status === wanted.status;
  if (isSameStatus && old.reason === wanted.reason && old.message === wanted.message) {
    return undefined;
  }
  const lastTransitionTime = isSameStatus ? (old.lastTransitionTime ?? now) : now;
  return { type: available, ...wanted, lastTransitionTime };
}

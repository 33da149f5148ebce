/** The `ephemeralcontainers` subresource: the containers added to a running pod. */
import type { ApiObject, SubresourceStatus } from '@orch/api';
import { codecFor } from '@orch/apimachinery';
import { partStrategy, type ServedResource } from '@orch/registry';
import type { EphemeralContainers, Pod } from '@orch/types/core/v1';
import type { Handler } from './handler.js';
import { type View, viewHandler, viewMetadata } from './view.js';

export const ephemeralContainersName = 'ephemeralcontainers';

const schemaType = 'core/v1.EphemeralContainers';

export function ephemeralContainersHandler(
  served: ServedResource,
  part: SubresourceStatus<ApiObject>,
): Handler {
  const codec = codecFor<EphemeralContainers & ApiObject>(schemaType);
  const kind = 'EphemeralContainers';
  const view: View<EphemeralContainers & ApiObject> = {
    schemaType,
    expected: { apiVersion: 'v1', kind, groupHead: 'core', codec },
    strategy: partStrategy(served, ephemeralContainersName, part),
    of: (object: Pod) => ({
      kind,
      apiVersion: 'v1',
      metadata: viewMetadata(object),
      ephemeralContainers: object.spec?.ephemeralContainers ?? [],
    }),
    write(object: Pod, wanted) {
      codec.setDefaults(wanted);
      object.spec = { ...object.spec, ephemeralContainers: wanted.ephemeralContainers };
    },
  };
  return viewHandler(() => view);
}

/** The `ephemeralcontainers` subresource: the containers added to a pod that runs, as a list of its own. */
import type { ApiObject, SubresourceStatus } from '@orch/api';
import { codecFor } from '@orch/apimachinery';
import type { EphemeralContainers, Pod } from '@orch/types/core/v1';
import { partStrategy } from '../registry/strategies.js';
import type { Handler } from './call.js';
import { type View, viewHandler, viewMetadata } from './view.js';

export const ephemeralContainersName = 'ephemeralcontainers';

const schemaType = 'core/v1.EphemeralContainers';

export function ephemeralContainersHandler(part: SubresourceStatus<ApiObject>): Handler {
  const codec = codecFor<EphemeralContainers & ApiObject>(schemaType);
  const kind = 'EphemeralContainers';
  const view: View<EphemeralContainers & ApiObject> = {
    schemaType,
    expected: { apiVersion: 'v1', kind, groupHead: 'core', codec },
    strategy: partStrategy(ephemeralContainersName, part as SubresourceStatus<object>),
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

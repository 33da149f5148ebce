/** The `scale` subresource: the replicas of a workload of any kind. */
import type { ApiObject, SubresourceScale } from '@orch/api';
import { codecFor, fieldError, internalError, invalid, notFound } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { objectStrategy, type ResourceStore } from '@orch/registry';
import type { Expected } from '../request/decode-object.js';
import type { Handler } from './handler.js';
import { viewHandler, viewMetadata } from './view.js';

interface Scale extends ApiObject {
  spec?: { replicas?: number };
  status?: { replicas: number; selector?: string };
}

const schemaType = 'autoscaling/v1.Scale';

function expectedScale(): Expected {
  return {
    apiVersion: dialect().apiVersion('autoscaling', 'v1'),
    kind: 'Scale',
    groupHead: 'autoscaling',
    codec: codecFor(schemaType),
  };
}

function scaleOf(object: ApiObject, part: SubresourceScale<ApiObject>): Scale {
  const selector = part.selector(object);
  return {
    kind: 'Scale',
    apiVersion: dialect().apiVersion('autoscaling', 'v1'),
    metadata: viewMetadata(object),
    spec: { replicas: part.replicas(object) ?? 0 },
    status: { replicas: part.statusReplicas(object), ...(selector !== '' && { selector }) },
  };
}

function scaleNotFound(
  { served }: ResourceStore,
  name: string,
  part: SubresourceScale<ApiObject>,
): Error {
  const { group, resource } = part.notFoundAs ?? {
    group: served.served.group,
    resource: `${served.definition.plural}/scale`,
  };
  return notFound({ group: dialect().group(group), resource }, name);
}

export function scaleHandler(part: SubresourceScale<ApiObject>): Handler {
  return viewHandler<Scale>(({ served }) => ({
    schemaType,
    expected: expectedScale(),
    strategy: { ...objectStrategy(served), subresource: 'scale' },
    of: (object) => scaleOf(object, part),
    checkRead(object) {
      if (part.replicas(object) !== undefined) return;
      throw internalError(`the spec replicas field "${part.replicasPath ?? ''}" does not exist`);
    },
    write(object, scale, name) {
      const replicas = scale.spec?.replicas ?? 0;
      if (replicas < 0 && !part.validatesReplicas) {
        throw invalid({ group: dialect().group('autoscaling'), kind: 'Scale' }, name, [
          fieldError.invalid('spec.replicas', replicas, 'must be greater than or equal to 0'),
        ]);
      }
      part.setReplicas(object, replicas);
    },
    notFound: (store, name) => scaleNotFound(store, name, part),
  }));
}

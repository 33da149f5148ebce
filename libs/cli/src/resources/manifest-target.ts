/** The target of a manifest: the type and namespace of its object and a client for it. */
import type { ApiObject, ResourceClient } from '@orch/client';
import { CliError } from '../command-line/errors.js';
import { type ResourceType, singularTypeName } from '../session/catalog.js';
import type { Session } from '../session/session.js';
import type { Manifest } from './manifests.js';

export interface Placed {
  readonly object: ApiObject;
  readonly type: ResourceType;
  readonly client: ResourceClient<ApiObject>;
  /** `deployment.apps/web`. */
  readonly title: string;
}

/** Throws `CliError` if the server does not serve the kind, or `-n` contradicts the manifest. */
export async function place(manifest: Manifest, session: Session): Promise<Placed> {
  const { object, source } = manifest;
  const type = await session.catalog
    .kind(object.apiVersion ?? '', object.kind ?? '')
    .catch((error: unknown) => {
      if (error instanceof CliError) throw new CliError(`${source}: ${error.message}`);
      throw error;
    });
  const own = object.metadata?.namespace;
  if (type.namespaced && own && session.namespaceGiven && own !== session.namespace) {
    throw new CliError(
      `${source}: the namespace of the object is "${own}", that of --namespace "${session.namespace}"; they must be the same`,
    );
  }
  const namespace = type.namespaced ? own || session.namespace : undefined;
  const placed = namespace ? { ...object, metadata: { ...object.metadata, namespace } } : object;
  return {
    object: placed,
    type,
    client: session.client.resource(type, namespace),
    title: titleOf(type, object),
  };
}

export function titleOf(type: ResourceType, object: ApiObject): string {
  return `${singularTypeName(type)}/${object.metadata?.name ?? object.metadata?.generateName ?? ''}`;
}

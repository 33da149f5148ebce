/** Objects of manifests on their way to the server: their type, their namespace, a handle for them. */
import type { ApiObject, ResourceClient } from '@orch/client';
import { type ResourceType, singularTypeName } from './catalog.js';
import { CliError, UsageError } from './errors.js';
import type { Manifest } from './manifests.js';
import type { Session } from './session.js';

export interface Placed {
  readonly object: ApiObject;
  readonly type: ResourceType;
  readonly client: ResourceClient<ApiObject>;
  /** `deployment.apps/web`. */
  readonly title: string;
}

/** Throws `CliError` when the server does not know the kind, or `-n` speaks against the object. */
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

const dryRunModes = ['none', 'client', 'server'] as const;
export type DryRunMode = (typeof dryRunModes)[number];

/** Of `--dry-run[=MODE]`; without a value it means the client's. */
export function dryRunMode(value: string | true | undefined): DryRunMode {
  if (value === undefined) return 'none';
  if (value === true) return 'client';
  const known = dryRunModes.find((mode) => mode === value);
  if (!known) {
    throw new UsageError(`--dry-run: want one of ${dryRunModes.join(', ')}, got ${value}`);
  }
  return known;
}

/** What is put behind the line about an object. */
export function dryRunNote(mode: DryRunMode): string {
  if (mode === 'client') return ' (dry run)';
  return mode === 'server' ? ' (server dry run)' : '';
}

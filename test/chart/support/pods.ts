/** The pods of rendered objects, and their references. */
import type { PodSpec } from '@orch/types/core/v1';
import type { Rendered } from './helm.js';

export interface NamedPod {
  /** `Deployment/orch-scheduler`. */
  readonly of: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

interface Template {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

export function podsOf(objects: readonly Rendered[]): NamedPod[] {
  return objects.flatMap((object) => {
    const template = templateOf(object);
    if (!template) return [];
    const of = `${object.kind}/${object.metadata.name}`;
    return [{ of, labels: template.metadata?.labels ?? {}, spec: template.spec }];
  });
}

function templateOf(object: Rendered): Template | undefined {
  const spec = object.spec as
    | { template?: Template; jobTemplate?: { spec: { template: Template } } }
    | undefined;
  switch (object.kind) {
    case 'Pod':
      return object as unknown as Template;
    case 'StatefulSet':
    case 'Deployment':
    case 'Job':
      return spec?.template;
    case 'CronJob':
      return spec?.jobTemplate?.spec.template;
    default:
      return undefined;
  }
}

export function containersOf({ spec }: NamedPod) {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
}

export interface Reference {
  readonly kind: 'Secret' | 'ConfigMap' | 'PersistentVolumeClaim' | 'ServiceAccount';
  readonly name: string;
  /** Key of the data. Absent for a reference to the whole object. */
  readonly keys?: readonly string[];
}

export function referencesOf({ spec }: NamedPod): Reference[] {
  const { volumes = [], imagePullSecrets = [], serviceAccountName = 'default' } = spec;
  const secrets = volumes.flatMap((volume) => [
    ...(volume.secret ? [{ name: volume.secret.secretName!, items: volume.secret.items }] : []),
    ...(volume.projected?.sources ?? []).flatMap(({ secret }) =>
      secret ? [{ name: secret.name!, items: secret.items }] : [],
    ),
  ]);
  return [
    ...secrets.map(({ name, items }) => ({
      kind: 'Secret' as const,
      name,
      ...(items && { keys: items.map(({ key }) => key!) }),
    })),
    ...imagePullSecrets.map(({ name }) => ({ kind: 'Secret' as const, name: name! })),
    ...volumes.flatMap(({ persistentVolumeClaim: claim }) =>
      claim ? [{ kind: 'PersistentVolumeClaim' as const, name: claim.claimName! }] : [],
    ),
    { kind: 'ServiceAccount', name: serviceAccountName },
  ];
}

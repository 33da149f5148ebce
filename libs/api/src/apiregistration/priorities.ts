/**
 * Discovery priorities of built-in groups and their versions, highest first. Keyed by group head.
 * Source: the API services in the recorded fixtures.
 */
interface GroupPriority {
  readonly minimum: number;
  readonly versions: Readonly<Record<string, number>>;
}

const groupPriorities: Readonly<Record<string, GroupPriority>> = {
  core: { minimum: 18_000, versions: { v1: 1 } },
  apps: { minimum: 17_800, versions: { v1: 15 } },
  events: { minimum: 17_750, versions: { v1: 15, v1beta1: 5 } },
  authentication: { minimum: 17_700, versions: { v1: 15, v1beta1: 9 } },
  authorization: { minimum: 17_600, versions: { v1: 15, v1beta1: 9 } },
  autoscaling: { minimum: 17_500, versions: { v1: 15, v2beta1: 9, v2beta2: 1 } },
  batch: { minimum: 17_400, versions: { v1: 15, v1beta1: 9 } },
  certificates: { minimum: 17_300, versions: { v1: 15, v1beta1: 9 } },
  networking: { minimum: 17_200, versions: { v1: 15, v1beta1: 9 } },
  extensions: { minimum: 17_150, versions: { v1beta1: 1 } },
  policy: { minimum: 17_100, versions: { v1: 15, v1beta1: 9 } },
  'rbac.authorization': { minimum: 17_000, versions: { v1: 15, v1beta1: 12, v1alpha1: 9 } },
  storage: { minimum: 16_800, versions: { v1: 15, v1beta1: 9, v1alpha1: 1 } },
  admissionregistration: { minimum: 16_700, versions: { v1: 15, v1beta1: 12 } },
  apiextensions: { minimum: 16_700, versions: { v1: 15, v1beta1: 9 } },
  scheduling: { minimum: 16_600, versions: { v1: 15, v1beta1: 12, v1alpha1: 9 } },
  coordination: { minimum: 16_500, versions: { v1: 15, v1beta1: 9 } },
  node: { minimum: 16_300, versions: { v1: 15, v1beta1: 9, v1alpha1: 1 } },
  discovery: { minimum: 16_200, versions: { v1: 15, v1beta1: 12 } },
  'flowcontrol.apiserver': { minimum: 16_100, versions: { v1beta1: 12, v1alpha1: 9 } },
  'internal.apiserver': { minimum: 16_000, versions: { v1alpha1: 9 } },
  // As in the manifest of the upstream metrics server.
  metrics: { minimum: 100, versions: { v1beta1: 100 } },
};

/** Version priorities by stability. */
const ofStability = { stable: 15, beta: 9, alpha: 1 } as const;

/** Priority of groups without a recorded one: after all others. */
const unplacedMinimum = 1_000;

export function prioritiesOf(groupHead: string, version: string): [minimum: number, own: number] {
  const { minimum, versions } = groupPriorities[groupHead] ?? {
    minimum: unplacedMinimum,
    versions: {},
  };
  const stability = /alpha|beta/.exec(version)?.[0] as 'alpha' | 'beta' | undefined;
  return [minimum, versions[version] ?? ofStability[stability ?? 'stable']];
}

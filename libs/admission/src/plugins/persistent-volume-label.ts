/**
 * Restricts dynamically provisioned volumes to the zone and region of their labels. Disks of a
 * cloud that are not provisioned dynamically are rejected, because only the cloud knows their zone.
 */
import { dialect } from '@orch/component';
import type { NodeSelectorRequirement, PersistentVolume } from '@orch/types/core/v1';
import { type AdmissionRule, forbiddenTarget } from '../rule.js';

type Labels = Readonly<Record<string, string>>;
type Source = NonNullable<PersistentVolume['spec']>;

/** Between the zones of a volume that is in several. */
const zoneSeparator = '__';
/** The name of a disk that is being created. */
const placeholder = 'placeholder-for-provisioning';

/** By source: the disk, and the text of its rejection. */
const clouds: readonly {
  readonly title: string;
  readonly cloud: string;
  readonly disk: (source: Source) => string | undefined;
}[] = [
  {
    title: 'AWS EBS volume',
    cloud: 'unable to build AWS cloud provider for EBS',
    disk: ({ awsElasticBlockStore }) => awsElasticBlockStore?.volumeID,
  },
  {
    title: 'GCE PD volume',
    cloud: 'unable to build GCE cloud provider for PD',
    disk: ({ gcePersistentDisk }) => gcePersistentDisk?.pdName,
  },
  {
    title: 'AzureDisk volume',
    cloud: 'unable to build Azure cloud provider for AzureDisk',
    disk: ({ azureDisk }) => azureDisk?.diskName,
  },
  {
    title: 'Cinder volume',
    cloud: 'unable to build OpenStack cloud provider for Cinder disk',
    disk: ({ cinder }) => cinder?.volumeID,
  },
  {
    title: 'vSphere Volume',
    cloud: 'unable to build vSphere cloud provider',
    disk: ({ vsphereVolume }) => vsphereVolume?.volumePath,
  },
];

export const persistentVolumeLabel: AdmissionRule = {
  name: 'PersistentVolumeLabel',
  isDefault: false,
  kinds: ['core/persistentvolumes'],
  operations: ['CREATE'],
  subresource: '',

  mutate(target) {
    const volume = target.object as PersistentVolume;
    volume.spec ??= {};
    const source = volume.spec;
    const labels = provisionedLabels(volume);
    if (labels) return restrict(source, labels);
    for (const { title, cloud, disk } of clouds) {
      const name = disk(source);
      if (name === undefined || name === placeholder) continue;
      throw forbiddenTarget(target, `error querying ${title} ${name}: ${cloud}`);
    }
  },
};

/** The labels of a dynamically provisioned volume; undefined if it has none that can be trusted. */
function provisionedLabels({ metadata }: PersistentVolume): Labels | undefined {
  const provisioned = dialect().key('provisioned-by', 'pv');
  if (metadata?.annotations?.[provisioned] === undefined) return undefined;
  for (const subdomain of ['topology', 'failure-domain.beta']) {
    const keys = ['zone', 'region'].map((name) => dialect().key(name, subdomain));
    const entries = keys.map((key) => [key, metadata.labels?.[key]] as const);
    if (entries.every(([, value]) => value !== undefined)) {
      return Object.fromEntries(entries) as Labels;
    }
  }
  return undefined;
}

/** Adds the labels to the node affinity, unless it names them already. */
function restrict(source: Source, labels: Labels): void {
  const requirements: NodeSelectorRequirement[] = Object.entries(labels).map(([key, value]) => ({
    key,
    operator: 'In',
    values: key.endsWith('/zone') ? value.split(zoneSeparator).sort() : [value],
  }));
  const given = source.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const terms = given.length > 0 ? given : [{}];
  const names = (term: (typeof terms)[number]) =>
    term.matchExpressions?.map(({ key }) => key) ?? [];
  if (terms.some((term) => names(term).some((key) => key in labels))) return;
  source.nodeAffinity = {
    ...source.nodeAffinity,
    required: {
      nodeSelectorTerms: terms.map((term) => ({
        ...term,
        matchExpressions: [...(term.matchExpressions ?? []), ...requirements],
      })),
    },
  };
}

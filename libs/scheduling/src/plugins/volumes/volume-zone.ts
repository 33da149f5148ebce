/** Rejects nodes outside the zones that the labels of the pod's bound volumes name. */
import { storageClassName } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { type Cycle } from '../../framework/cycle.js';
import { finalRejection, type Plugin, type Rejection } from '../../framework/plugin.js';
import { claimReferences, waitsForConsumer } from './claims.js';

/** The label of a volume in several zones separates their names with this. */
const zoneSeparator = '__';

export const volumeZone: Plugin = {
  name: 'VolumeZone',
  retryOn: [
    ...(['node added', 'node changed', 'claim changed', 'volume changed'] as const),
    'storage class changed',
  ],
  filter(cycle) {
    const zones = requiredZones(cycle);
    if ('reasons' in zones) return () => zones;
    if (zones.length === 0) return undefined;
    const keys = zoneLabels();
    const rejected = finalRejection('node(s) had no available volume zone');
    return ({ labels }) => {
      // A node without any of the labels belongs to no zone, so that volumes are reachable.
      if (keys.every((key) => labels[key] === undefined)) return undefined;
      return zones.every(({ key, values }) => values.includes(labels[key] ?? ''))
        ? undefined
        : rejected;
    };
  },
};

function zoneLabels(): string[] {
  return ['failure-domain.beta', 'topology'].flatMap((subdomain) =>
    ['zone', 'region'].map((name) => dialect().key(name, subdomain)),
  );
}

interface ZoneRequirement {
  readonly key: string;
  readonly values: readonly string[];
}

function requiredZones({ pod, context: { objects } }: Cycle): ZoneRequirement[] | Rejection {
  const requirements: ZoneRequirement[] = [];
  for (const { key, name } of claimReferences(pod)) {
    const claim = objects.claim(key);
    if (!claim) return finalRejection(`persistentvolumeclaim "${name}" not found`);
    const volumeName = claim.spec?.volumeName;
    if (!volumeName) {
      if (waitsForConsumer(claim, objects)) continue;
      return finalRejection(
        storageClassName(claim) === ''
          ? 'PersistentVolumeClaim had no pv name and storageClass name'
          : 'PersistentVolumeClaim had no pv name',
      );
    }
    const volume = objects.volume(volumeName);
    if (!volume) return finalRejection(`persistentvolume "${volumeName}" not found`);
    const labels = volume.metadata?.labels ?? {};
    for (const label of zoneLabels()) {
      const value = labels[label];
      if (value === undefined) continue;
      requirements.push({ key: label, values: value.split(zoneSeparator) });
    }
  }
  return requirements;
}

/** The family of `/metrics/probes`. Pure. */
import type { ProbeCount } from '../probes/probe-counts.js';
import type { Family } from './exposition.js';

const typeNames = { liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup' } as const;
const resultNames = { success: 'successful', failure: 'failed' } as const;

export function probeFamilies(counts: readonly ProbeCount[]): Family[] {
  return [
    {
      name: 'prober_probe_total',
      help: '[ALPHA] Liveness, readiness and startup probes of containers, by result',
      type: 'counter',
      samples: counts.map(({ pod, container, kind, outcome, count }) => ({
        labels: {
          container,
          namespace: pod.namespace,
          pod: pod.name,
          pod_uid: pod.uid,
          probe_type: typeNames[kind],
          result: resultNames[outcome],
        },
        value: count,
      })),
    },
  ];
}

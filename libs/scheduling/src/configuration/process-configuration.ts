/** Settings of the process in a configuration file; each takes precedence over its flag. */
import type { ConfigurationMap } from './configuration-map.js';

/** A field is undefined if the file does not set it. */
export interface ProcessConfiguration {
  readonly kubeconfig?: string;
  readonly qps?: number;
  readonly burst?: number;
  readonly profiling?: boolean;
  readonly contentionProfiling?: boolean;
  readonly election: {
    readonly enabled?: boolean;
    readonly leaseDurationMs?: number;
    readonly renewDeadlineMs?: number;
    readonly retryPeriodMs?: number;
    readonly resourceLock?: string;
    readonly resourceName?: string;
    readonly resourceNamespace?: string;
  };
}

export function readProcess(root: ConfigurationMap, warnings: string[]): ProcessConfiguration {
  const client = root.map('clientConnection');
  const election = root.map('leaderElection');
  const qps = client?.number('qps');
  if (client && qps !== undefined && qps < 0) throw client.fault('qps', 'must not be negative');
  const result: ProcessConfiguration = {
    // Empty is the same as absent.
    kubeconfig: client?.text('kubeconfig') || undefined,
    qps: qps || undefined,
    burst: client?.integer('burst', 0) || undefined,
    profiling: root.boolean('enableProfiling'),
    contentionProfiling: root.boolean('enableContentionProfiling'),
    election: {
      enabled: election?.boolean('leaderElect'),
      leaseDurationMs: election?.durationMs('leaseDuration'),
      renewDeadlineMs: election?.durationMs('renewDeadline'),
      retryPeriodMs: election?.durationMs('retryPeriod'),
      resourceLock: election?.text('resourceLock'),
      resourceName: election?.text('resourceName'),
      resourceNamespace: election?.text('resourceNamespace'),
    },
  };
  for (const name of ['acceptContentTypes', 'contentType']) {
    if (client?.text(name)) {
      warnings.push(`clientConnection.${name} has no effect: requests and responses are JSON`);
    }
  }
  warnOfUnused(root, warnings);
  client?.finish();
  election?.finish();
  return result;
}

function warnOfUnused(root: ConfigurationMap, warnings: string[]): void {
  if (root.integer('parallelism', 1) !== undefined) {
    warnings.push('parallelism has no effect: the nodes of a cycle are examined in one thread');
  }
  for (const name of ['healthzBindAddress', 'metricsBindAddress']) {
    if (root.text(name)) {
      warnings.push(`${name} has no effect: health and metrics are served on --secure-port`);
    }
  }
}

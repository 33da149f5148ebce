/** The flags of the scheduler, with upstream names and defaults. */
import { Flag } from '@orch/component';
import { IsIn, IsInt, IsIP, IsNotEmpty, Max, Min } from 'class-validator';
import { type AlgorithmProvider, algorithmProviders } from './configuration/plugin-sets.js';

export class SchedulingOptions {
  @Flag({
    name: 'config',
    description:
      'configuration file with profiles, plugins and extenders; its fields take precedence over flags, and --algorithm-provider, --policy-config-file, --hard-pod-affinity-symmetric-weight and --percentage-of-nodes-to-score have no effect with it',
    default: '',
  })
  configFile!: string;

  @Flag({
    name: 'policy-config-file',
    description:
      'policy file with predicates and priorities, the older form of a configuration; takes precedence over --algorithm-provider',
    default: '',
  })
  policyFile!: string;

  @Flag({
    name: 'scheduler-name',
    description:
      'name of the scheduler; it schedules pods with this spec.schedulerName; profiles of --config have names of their own',
    default: 'default-scheduler',
  })
  @IsNotEmpty()
  schedulerName!: string;

  @Flag({
    name: 'algorithm-provider',
    description: `scoring of nodes, one of ${algorithmProviders.join(', ')}. DefaultProvider prefers the least allocated nodes: headroom for load peaks. ClusterAutoscalerProvider prefers the most allocated nodes: fewer nodes in use, less headroom.`,
    default: 'DefaultProvider',
    type: 'string',
  })
  @IsIn(algorithmProviders)
  algorithmProvider!: AlgorithmProvider;

  @Flag({
    name: 'hard-pod-affinity-symmetric-weight',
    description:
      'score weight, 0 to 100, of required affinity terms of existing pods that select the new pod. Higher: affinity has more influence than even load. Lower: even load has more influence.',
    default: 1,
  })
  @IsInt()
  @Min(0)
  @Max(100)
  hardPodAffinityWeight!: number;

  @Flag({
    name: 'percentage-of-nodes-to-score',
    description:
      'share of the nodes, in percent, that must be feasible before scoring; 0 derives it from the cluster size. Higher: slower cycles in large clusters. Lower: worse placements.',
    default: 0,
  })
  @IsInt()
  @Min(0)
  @Max(100)
  percentageOfNodesToScore!: number;

  @Flag({
    name: 'port',
    description:
      'HTTP port without TLS and authorization for health and metrics, for probes that cannot use --secure-port; 0 disables it. Everyone who reaches the port reads the metrics.',
    default: 0,
  })
  @IsInt()
  @Min(0)
  @Max(65_535)
  insecurePort!: number;

  @Flag({
    name: 'address',
    description: 'IP address to listen on with --port; 0.0.0.0 and :: listen on all addresses',
    default: '0.0.0.0',
  })
  @IsIP()
  insecureAddress!: string;
}

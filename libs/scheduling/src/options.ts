/** The scheduler's own flags; names and defaults are those of the interface. */
import { Flag } from '@orch/component';
import { IsIn, IsInt, IsNotEmpty, Max, Min } from 'class-validator';
import { type AlgorithmProvider, algorithmProviders } from './plugins/registry.js';

export class SchedulingOptions {
  @Flag({
    name: 'scheduler-name',
    description: 'places the pods whose spec.schedulerName is this; others are left to others',
    default: 'default-scheduler',
  })
  @IsNotEmpty()
  schedulerName!: string;

  @Flag({
    name: 'algorithm-provider',
    description: `DefaultProvider prefers the emptiest nodes: room for peaks; ClusterAutoscalerProvider fills nodes first: fewer in use, less room. One of ${algorithmProviders.join(', ')}`,
    default: 'DefaultProvider',
    type: 'string',
  })
  @IsIn(algorithmProviders)
  algorithmProvider!: AlgorithmProvider;

  @Flag({
    name: 'hard-pod-affinity-symmetric-weight',
    description:
      "weight, 0 to 100, of other pods' required affinity when a node is chosen for a pod they want near; higher: affinity outweighs even load, lower: the reverse",
    default: 1,
  })
  @IsInt()
  @Min(0)
  @Max(100)
  hardPodAffinityWeight!: number;

  @Flag({
    name: 'percentage-of-nodes-to-score',
    description:
      'share of the nodes, in percent, to find fit before the best of them is taken; 0 chooses by cluster size; higher: slower cycles in large clusters, lower: poorer choices',
    default: 0,
  })
  @IsInt()
  @Min(0)
  @Max(100)
  percentageOfNodesToScore!: number;
}

/** Flags of the provider of load balancers, machines and routes. */
import { dialect, Flag, ValueError } from '@orch/component';
import { IsIn, IsInt, Matches, Max, Min } from 'class-validator';

export class ProviderOptions {
  @Flag({
    name: 'cloud-provider',
    description:
      'provider of load balancers, of the list of machines and of routes: pool is for machines without a cloud and reads --cloud-config; empty or external: none in this process',
    default: '',
  })
  @IsIn(['', 'external', 'pool'])
  cloudProvider!: string;

  @Flag({
    name: 'cloud-config',
    description: 'configuration file of the provider, YAML or JSON',
    default: '',
  })
  cloudConfig!: string;

  @Flag({
    name: 'cluster-name',
    description:
      'name of the cluster at the provider, which its routes have; proxies with --announced-routes-only need the same',
    default: () => dialect().word,
    type: 'string',
  })
  @Matches(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, {
    message: 'must be lower-case letters, digits and dashes, at most 63',
  })
  clusterName!: string;

  @Flag({
    name: 'concurrent-service-syncs',
    description:
      'services whose load balancer is reconciled concurrently. Higher: more load on this process and the API server. Lower: changes wait longer.',
    default: 1,
  })
  @IsInt()
  @Min(1)
  @Max(1_000)
  serviceSyncs!: number;

  checkRelations(): void {
    const isPool = this.cloudProvider === 'pool';
    if (isPool && this.cloudConfig === '') {
      throw new ValueError('--cloud-config is missing: --cloud-provider=pool requires it');
    }
    if (!isPool && this.cloudConfig !== '') {
      throw new ValueError('--cloud-config requires --cloud-provider=pool');
    }
  }
}

/** Flags of the provider of load balancers and machines. */
import { Flag, ValueError } from '@orch/component';
import { IsIn, IsInt, Max, Min } from 'class-validator';

export class ProviderOptions {
  @Flag({
    name: 'cloud-provider',
    description:
      'provider of load balancers and of the list of machines: pool reads both from --cloud-config; empty or external: none in this process',
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

/** Flags of processes that are clients of the API servers. */
import { IsOptional, Min } from 'class-validator';
import { dialect } from '../dialect/dialect.js';
import { Flag } from './flag.js';
import { ValueError } from './values.js';

export class ClientOptions {
  @Flag({
    name: 'kubeconfig',
    description: 'kubeconfig file with the addresses of the API servers and the credentials',
    env: 'KUBECONFIG',
    type: 'string',
  })
  @IsOptional()
  kubeconfig?: string;

  @Flag({
    name: () => dialect().systemName('api-qps'),
    description:
      'average requests per second to the API server. Higher: more load on it. Lower: slower reaction to changes.',
    default: 20,
  })
  @Min(0)
  apiQps!: number;

  @Flag({
    name: () => dialect().systemName('api-burst'),
    description:
      'requests that may exceed that rate in a burst. Higher: sharper load peaks. Lower: slower reaction after a pause.',
    default: 30,
  })
  @Min(1)
  apiBurst!: number;

  @Flag({
    name: () => dialect().systemName('api-content-type'),
    description:
      'media type in which objects of built-in kinds are sent: application/json, or protobuf, which is smaller; other bodies and all responses are JSON',
    default: () => dialect().protobufMediaType,
    type: 'string',
  })
  apiContentType!: string;

  checkRelations(): void {
    const supported = ['application/json', dialect().protobufMediaType];
    if (supported.includes(this.apiContentType)) return;
    const name = dialect().systemName('api-content-type');
    throw new ValueError(
      `--${name}: must be ${supported.join(' or ')}, got ${this.apiContentType}`,
    );
  }

  /** Returns the path of the kubeconfig. Throws `ValueError` if the flag is not set. */
  requiredKubeconfig(): string {
    if (this.kubeconfig) return this.kubeconfig;
    throw new ValueError('--kubeconfig is required: set the path of the kubeconfig file');
  }
}

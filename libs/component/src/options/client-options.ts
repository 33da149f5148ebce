/** Flags of processes that are clients of the API servers. */
import { IsIn, IsOptional, Min } from 'class-validator';
import { dialect } from '../dialect/dialect.js';
import { Flag } from './flag.js';
import { ValueError } from './values.js';

/** Media types that the client can send; only the API server reads and writes protobuf. */
const clientContentTypes = ['application/json'] as const;

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
    description: `media type of request bodies; supported: ${clientContentTypes.join(', ')}`,
    default: clientContentTypes[0],
    type: 'string',
  })
  @IsIn(clientContentTypes)
  apiContentType!: (typeof clientContentTypes)[number];

  /** Returns the path of the kubeconfig. Throws `ValueError` if the flag is not set. */
  requiredKubeconfig(): string {
    if (this.kubeconfig) return this.kubeconfig;
    throw new ValueError('--kubeconfig is required: set the path of the kubeconfig file');
  }
}

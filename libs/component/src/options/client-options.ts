/** Flags of every process that is a client of the API servers. */
import { IsIn, IsOptional, Min } from 'class-validator';
import { dialect } from '../dialect/dialect.js';
import { Flag } from './flag.js';
import { ValueError } from './values.js';

/** What the client can write; the binary form is read and written by the API server only. */
const clientContentTypes = ['application/json'] as const;

export class ClientOptions {
  @Flag({
    name: 'kubeconfig',
    description: 'file that says where the API servers are and how to prove oneself to them',
    env: 'KUBECONFIG',
    type: 'string',
  })
  @IsOptional()
  kubeconfig?: string;

  @Flag({
    name: () => dialect().systemName('api-qps'),
    description:
      'requests a second to the API server over time; higher: more load on it, lower: slower to follow changes',
    default: 20,
  })
  @Min(0)
  apiQps!: number;

  @Flag({
    name: () => dialect().systemName('api-burst'),
    description:
      'requests at once above that rate; higher: sharper peaks, lower: slower after a pause',
    default: 30,
  })
  @Min(1)
  apiBurst!: number;

  @Flag({
    name: () => dialect().systemName('api-content-type'),
    description: `media type of requests; this version sends ${clientContentTypes.join(', ')}`,
    default: clientContentTypes[0],
    type: 'string',
  })
  @IsIn(clientContentTypes)
  apiContentType!: (typeof clientContentTypes)[number];

  /** Throws `ValueError` when the process was started without one. */
  requiredKubeconfig(): string {
    if (this.kubeconfig) return this.kubeconfig;
    throw new ValueError('--kubeconfig: give the file that says where the API servers are');
  }
}

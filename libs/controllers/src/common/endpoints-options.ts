/** Flags of the controllers of endpoints and endpoint slices. */
import { Flag } from '@orch/component';
import { IsInt, Max, Min } from 'class-validator';

const batchPeriod = (name: string, what: string) =>
  Flag({
    name,
    description: `time for which changes of ${what} are collected before they are written. Higher: fewer writes during rollouts, and clients learn of changes later. Lower: more writes.`,
    default: '0s',
    type: 'duration',
  });

const sliceSyncs = (name: string, what: string) =>
  Flag({
    name,
    description: `${what} reconciled concurrently. Higher: more load on this process and the API server. Lower: changes wait longer.`,
    default: 5,
  });

export class EndpointsOptions {
  @sliceSyncs('concurrent-service-endpoint-syncs', 'services whose endpoint slices are')
  @IsInt()
  @Min(1)
  @Max(50)
  sliceSyncs!: number;

  @Flag({
    name: 'max-endpoints-per-slice',
    description:
      'most endpoints in one endpoint slice of a service. Higher: larger writes, each sent to every node. Lower: more objects.',
    default: 100,
  })
  @IsInt()
  @Min(1)
  @Max(1_000)
  endpointsPerSliceMax!: number;

  @batchPeriod('endpoint-updates-batch-period', 'the pods of an Endpoints object')
  @Min(0)
  endpointUpdatesBatchMs!: number;

  @batchPeriod('endpointslice-updates-batch-period', 'the pods of endpoint slices')
  @Min(0)
  sliceUpdatesBatchMs!: number;

  @sliceSyncs(
    'mirroring-concurrent-service-endpoint-syncs',
    'Endpoints objects mirrored to endpoint slices and',
  )
  @IsInt()
  @Min(1)
  @Max(50)
  mirroringSyncs!: number;

  @Flag({
    name: 'mirroring-max-endpoints-per-subset',
    description:
      'most addresses of a subset of an Endpoints object that are mirrored; a warning event reports the rest. Higher: larger endpoint slices. Lower: fewer addresses are reachable.',
    default: 1_000,
  })
  @IsInt()
  @Min(1)
  @Max(1_000)
  mirroredPerSubsetMax!: number;

  @batchPeriod('mirroring-endpointslice-updates-batch-period', 'mirrored Endpoints objects')
  @Min(0)
  mirroringBatchMs!: number;
}

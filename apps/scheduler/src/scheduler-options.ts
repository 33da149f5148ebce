/** All flags of the scheduler process. */
import {
  ClientOptions,
  CommonOptions,
  DelegatedAuthenticationOptions,
  dialect,
  Flags,
  LeaderElectionOptions,
  ServingOptions,
} from '@orch/component';
import { SchedulingOptions } from '@orch/scheduling';

export class SchedulerOptions {
  @Flags(CommonOptions)
  common!: CommonOptions;

  @Flags(ClientOptions, () => ({
    [dialect().systemName('api-qps')]: 50,
    [dialect().systemName('api-burst')]: 100,
  }))
  client!: ClientOptions;

  @Flags(LeaderElectionOptions)
  election!: LeaderElectionOptions;

  @Flags(ServingOptions, { 'secure-port': 10_259 })
  serving!: ServingOptions;

  @Flags(DelegatedAuthenticationOptions, { 'authentication-tolerate-lookup-failure': true })
  authentication!: DelegatedAuthenticationOptions;

  @Flags(SchedulingOptions)
  scheduling!: SchedulingOptions;
}

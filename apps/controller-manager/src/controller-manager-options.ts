/** All flags of the controller manager process. */
import {
  ClientOptions,
  CommonOptions,
  DelegatedAuthenticationOptions,
  Flags,
  LeaderElectionOptions,
  ServingOptions,
} from '@orch/component';
import { AccountOptions, ControllersOptions } from '@orch/controllers';

export class ControllerManagerOptions {
  @Flags(CommonOptions)
  common!: CommonOptions;

  @Flags(ClientOptions)
  client!: ClientOptions;

  @Flags(LeaderElectionOptions)
  election!: LeaderElectionOptions;

  @Flags(ServingOptions, { 'secure-port': 10_257 })
  serving!: ServingOptions;

  @Flags(DelegatedAuthenticationOptions)
  authentication!: DelegatedAuthenticationOptions;

  @Flags(AccountOptions)
  accounts!: AccountOptions;

  @Flags(ControllersOptions)
  controllers!: ControllersOptions;
}

/** All flags of the node agent process. */
import { ClientOptions, CommonOptions, Flag, Flags } from '@orch/component';
import { CertificateOptions, HollowOptions, NodeAgentOptions } from '@orch/node';

export class NodeAgentProcessOptions {
  @Flags(CommonOptions)
  common!: CommonOptions;

  @Flags(ClientOptions)
  client!: ClientOptions;

  @Flags(NodeAgentOptions)
  agent!: NodeAgentOptions;

  @Flags(CertificateOptions)
  certificates!: CertificateOptions;

  @Flags(HollowOptions)
  hollow!: HollowOptions;

  @Flag({
    name: 'teardown-only',
    description:
      'end all pods that an agent with this --root-dir has left, remove their network, and end',
  })
  teardownOnly = false;
}

/** Who may read what of the node: everyone known, or whom the API server says may see the node. */
import {
  type Clock,
  DelegatedAuthorizer,
  type PostReview,
  type RequestAuthorizer,
  type ServingDecision,
  type ServingRequest,
} from '@orch/component';
import type { NodeAgentOptions } from '../node-agent-options.js';
import { decodedSegment } from './decoded-segment.js';

const allowed: ServingDecision = { kind: 'allowed' };
const refused: ServingDecision = { kind: 'unauthenticated', reason: 'Unauthorized' };

export class AgentAuthorizer implements RequestAuthorizer {
  private readonly delegated: DelegatedAuthorizer;

  constructor(
    private readonly options: NodeAgentOptions,
    private readonly nodeName: string,
    postReview: PostReview,
    clock: Clock,
  ) {
    this.delegated = new DelegatedAuthorizer({
      postReview,
      tokenTtlMs: options.tokenCacheTtlMs,
      authorizedTtlMs: options.authorizedCacheTtlMs,
      unauthorizedTtlMs: options.unauthorizedCacheTtlMs,
      clock,
      allowAnonymous: options.anonymousAuth,
    });
  }

  async decide(request: ServingRequest): Promise<ServingDecision> {
    const { anonymousAuth, tokenWebhook, authorizationMode } = this.options;
    // Without the webhook a token says nothing about who sends it.
    const known = tokenWebhook ? request : { ...request, bearerToken: undefined };
    const { bearerToken: _dropped, ...withoutToken } = known;
    const asked: ServingRequest = known.bearerToken ? { ...known } : withoutToken;
    if (authorizationMode === 'Webhook') {
      return this.delegated.decide(asked, {
        resource: 'nodes',
        subresource: subresourceOf(request.path),
        name: this.nodeName,
      });
    }
    // Whoever may do these is root on the node: that is nobody without a name.
    const admitsAnonymous = anonymousAuth && !entersPods(request.path);
    if (asked.clientCertificate || admitsAnonymous) return allowed;
    return asked.bearerToken ? this.delegated.decide(asked) : refused;
  }
}

const enteringPaths: ReadonlySet<string> = new Set(['exec', 'attach', 'portForward', 'run']);

function entersPods(path: string): boolean {
  const first = path.split('/')[1] ?? '';
  return enteringPaths.has(decodedSegment(first));
}

/** The part of the node that a path shows. */
function subresourceOf(path: string): string {
  const first = path.split('/')[1] ?? '';
  if (first === 'stats' || first === 'metrics') return first;
  return first === 'logs' ? 'log' : 'proxy';
}

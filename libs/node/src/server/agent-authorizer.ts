/**
 * Authorizes requests to the agent: all authenticated users, or by subject access review of the
 * node.
 */
import {
  type Clock,
  DelegatedAuthorizer,
  type PostReview,
  type RequestAuthorizer,
  type ServingDecision,
  type ServingRequest,
} from '@orch/component';
import type { NodeAgentOptions } from '../node-agent-options.js';
import { decodeSegment } from './request/path-segment.js';

const allowed: ServingDecision = { kind: 'allowed' };
const unauthenticated: ServingDecision = { kind: 'unauthenticated', reason: 'Unauthorized' };

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
    // Without the webhook a token cannot be authenticated, so it is ignored.
    const { bearerToken, ...withoutToken } = request;
    const effective: ServingRequest = tokenWebhook && bearerToken ? request : withoutToken;
    if (authorizationMode === 'Webhook') {
      const verb = resourceVerbs[request.verb] ?? request.verb;
      return this.delegated.decide(
        { ...effective, verb },
        {
          resource: 'nodes',
          subresource: subresourceOf(request.path),
          name: this.nodeName,
        },
      );
    }
    // Commands in pods grant root on the node, so anonymous users may never run them.
    const { user } = effective;
    if (user && user !== 'notValid') return allowed;
    if (anonymousAuth && !user && !entersPods(request.path)) return allowed;
    return effective.bearerToken ? this.delegated.decide(effective) : unauthenticated;
  }
}

/** Verbs of the resource `nodes`, by HTTP method. */
const resourceVerbs: Readonly<Record<string, string>> = {
  post: 'create',
  put: 'update',
};

const ownSubresources: Readonly<Record<string, string>> = {
  stats: 'stats',
  metrics: 'metrics',
  logs: 'log',
  spec: 'spec',
};

const enteringPaths: ReadonlySet<string> = new Set(['exec', 'attach', 'portForward', 'run']);

function entersPods(path: string): boolean {
  const first = path.split('/')[1] ?? '';
  return enteringPaths.has(decodeSegment(first));
}

/** Returns the subresource of the node that a path belongs to. */
function subresourceOf(path: string): string {
  const first = path.split('/')[1] ?? '';
  return Object.hasOwn(ownSubresources, first) ? ownSubresources[first]! : 'proxy';
}

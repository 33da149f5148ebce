import { systemClock } from '@orch/component';
import { describe, expect, it } from 'vitest';
import type { NodeAgentOptions } from '../node-agent-options.js';
import { AgentAuthorizer } from './agent-authorizer.js';

const options = { anonymousAuth: true, authorizationMode: 'AlwaysAllow' } as NodeAgentOptions;
const noReview = () => Promise.reject(new Error('nobody is to be asked'));
const authorizer = new AgentAuthorizer(options, 'node', noReview, systemClock);

describe('AgentAuthorizer', () => {
  it.each(['/exec/a/b/c', '/attach/a/b/c', '/portForward/a/b', '/run/a/b/c', '/ex%65c/a/b/c'])(
    'denies anonymous access to pods: %s',
    async (path) => {
      expect((await authorizer.decide({ path, verb: 'get' })).kind).toBe('unauthenticated');
      const user = { user: 'server', groups: [] };
      expect((await authorizer.decide({ path, verb: 'get', user })).kind).toBe('allowed');
    },
  );

  it('admits anonymous users to all other paths if configured', async () => {
    expect((await authorizer.decide({ path: '/pods', verb: 'get' })).kind).toBe('allowed');
  });

  it.each([
    ['get', '/stats/summary', 'get', 'stats'],
    ['get', '/metrics', 'get', 'metrics'],
    ['get', '/containerLogs/a/b/c', 'get', 'proxy'],
    ['post', '/exec/a/b/c', 'create', 'proxy'],
  ])('reviews %s %s as %s nodes/%s in mode Webhook', async (verb, path, reviewed, subresource) => {
    const reviews: object[] = [];
    const review = async (_path: string, body: object) => {
      reviews.push(body);
      return { status: { allowed: true } };
    };
    const webhook = { ...options, authorizationMode: 'Webhook' } as NodeAgentOptions;
    const user = { user: 'server', groups: [] };
    const delegating = new AgentAuthorizer(webhook, 'node', review, systemClock);
    const decision = await delegating.decide({ path, verb, user });
    expect(decision.kind).toBe('allowed');
    expect(reviews).toMatchObject([
      {
        spec: {
          user: 'server',
          resourceAttributes: { verb: reviewed, resource: 'nodes', subresource, name: 'node' },
        },
      },
    ]);
  });
});

import { systemClock } from '@orch/component';
import { describe, expect, it } from 'vitest';
import type { NodeAgentOptions } from '../node-agent-options.js';
import { AgentAuthorizer } from './agent-authorizer.js';

const options = { anonymousAuth: true, authorizationMode: 'AlwaysAllow' } as NodeAgentOptions;
const noReview = () => Promise.reject(new Error('nobody is to be asked'));
const authorizer = new AgentAuthorizer(options, 'node', noReview, systemClock);

describe('the agent', () => {
  it.each(['/exec/a/b/c', '/attach/a/b/c', '/portForward/a/b', '/run/a/b/c', '/ex%65c/a/b/c'])(
    'lets nobody without a name into pods: %s',
    async (path) => {
      expect((await authorizer.decide({ path, verb: 'get' })).kind).toBe('unauthenticated');
      const clientCertificate = { user: 'server', groups: [] };
      expect((await authorizer.decide({ path, verb: 'get', clientCertificate })).kind).toBe(
        'allowed',
      );
    },
  );

  it('shows the rest to everybody where that is asked for', async () => {
    expect((await authorizer.decide({ path: '/pods', verb: 'get' })).kind).toBe('allowed');
  });
});

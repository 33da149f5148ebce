import { resources } from '@orch/client';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryApiClient } from '../../../client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../../client/src/testing/memory-api-server.js';
import { setApproval } from './approval.js';

const resource = resources.certificateSigningRequests;

describe('setApproval', () => {
  let server: MemoryApiServer;
  const set = (type: 'Approved' | 'Denied', force = false) =>
    setApproval(new MemoryApiClient(server).resource(resource), 'csr', type, force);
  const writes = () => server.requests.filter(({ method }) => method === 'PUT');

  beforeEach(() => {
    server = new MemoryApiServer();
    server.seed(resource, {
      metadata: { name: 'csr' },
      spec: { request: '', signerName: 'a/b', usages: [] },
    });
  });

  it('writes the condition through the approval subresource', async () => {
    await set('Denied');
    expect(writes()).toMatchObject([{ name: 'csr', subresource: 'approval' }]);
    expect(writes()[0]?.body).toMatchObject({
      status: { conditions: [{ type: 'Denied', status: 'True', reason: 'OrchctlDeny' }] },
    });
  });

  it('writes again after a conflict, with the fields of the other writer', async () => {
    server.interceptNext('PUT', resource, () => {
      server.change(resource, 'csr', (csr) => ({
        ...csr,
        metadata: { ...csr.metadata, labels: { other: 'writer' } },
      }));
    });
    await set('Approved');
    expect(writes()).toHaveLength(2);
    expect(writes()[1]?.body).toMatchObject({ metadata: { labels: { other: 'writer' } } });
  });

  it('changes a request with the condition only if forced, and never the opposite one', async () => {
    const condition = { type: 'Approved', status: 'True', reason: 'Other' };
    server.change(resource, 'csr', (csr) => ({ ...csr, status: { conditions: [condition] } }));
    await set('Approved');
    expect(writes()).toHaveLength(0);
    await expect(set('Denied', true)).rejects.toThrow(
      'certificate signing request "csr" is already Approved',
    );
    await set('Approved', true);
    expect(writes()[0]?.body).toMatchObject({
      status: { conditions: [{ reason: 'OrchctlApprove' }] },
    });
  });
});

import type { IncomingMessage, ServerResponse } from 'node:http';
import { definitions } from '@orch/api';
import { forbiddenObject } from '@orch/apimachinery';
import { systemClock } from '@orch/component';
import {
  Admission,
  type AdmissionPlugin,
  type AdmissionRequest,
  type Registry,
  type ResourceStore,
  ResourceTable,
} from '@orch/registry';
import { describe, expect, it } from 'vitest';
import { splitTarget } from '../http/query.js';
import { parseRequestInfo } from '../http/request-info.js';
import { testContext } from '../testing/test-context.js';
import { type SubresourceDependencies, subresourcesOf } from './subresources.js';

const table = new ResourceTable(definitions);
const durations = { observe: () => undefined };
const observer = { plugin: () => durations, step: () => [durations] };

/** Calls the subresource of the path; its target is never read. */
async function connect(
  target: string,
  plugin: AdmissionPlugin,
): Promise<ReturnType<typeof testContext>> {
  const admission = new Admission([plugin], systemClock, observer);
  const { path, query } = splitTarget(target);
  const context = testContext({ method: 'POST' } as IncomingMessage, {} as ServerResponse);
  context.info = parseRequestInfo('POST', path, false);
  context.query = query;
  const { resource, subresource } = context.info;
  const served = table.inStoredVersion('core', resource)!;
  const dependencies = { registry: { admission } as Registry } as SubresourceDependencies;
  const found = subresourcesOf(served, dependencies).find(({ name }) => name === subresource);
  const denied = forbiddenObject(served.groupResource, context.info.name, 'not now');
  await expect(found?.handle(context, { served } as ResourceStore)).rejects.toThrow(denied.message);
  return context;
}

function denying(work: (request: AdmissionRequest) => void): AdmissionPlugin {
  return {
    name: 'Denying',
    mutate: work,
    validate({ served, name }) {
      throw forbiddenObject(served.groupResource, name, 'not now');
    },
  };
}

const pod = '/api/v1/namespaces/ns/pods/p';

describe('the admission of connections', () => {
  it.each([
    [
      `${pod}/exec?command=ls&command=-l&container=main&stdout=true`,
      { kind: 'PodExecOptions', container: 'main', command: ['ls', '-l'], stdout: true },
    ],
    [`${pod}/attach?stdin=1`, { kind: 'PodAttachOptions', stdin: true }],
    [`${pod}/portforward?ports=80`, { kind: 'PodPortForwardOptions', ports: [80] }],
    [`${pod}/proxy/some/path?a=b`, { kind: 'PodProxyOptions', path: '/some/path' }],
    [
      '/api/v1/namespaces/ns/services/https:s:443/proxy/x',
      { kind: 'ServiceProxyOptions', path: '/x' },
    ],
    ['/api/v1/nodes/n/proxy/pods', { kind: 'NodeProxyOptions', path: '/pods' }],
  ])('shows the options of %s to plugins, which may reject it', async (target, options) => {
    const requests: AdmissionRequest[] = [];
    await connect(
      target,
      denying((request) => void requests.push(request)),
    );
    expect(requests).toMatchObject([{ operation: 'CONNECT' }]);
    expect(requests[0]?.object).toEqual({ apiVersion: 'v1', ...options });
  });
});

import { describe, expect, it } from 'vitest';
import { isResourceTarget, parseRequestInfo } from './request-info.js';

function summary(method: string, path: string, watch = false) {
  const info = parseRequestInfo(method, path, watch);
  if (!info.isResource) return `${info.verb} path ${info.path}`;
  const where = [info.group, info.version, info.namespace, info.resource, info.name]
    .map((part) => part || '-')
    .join(' ');
  return `${info.verb} ${where}${info.subresource ? ` /${info.subresource}` : ''}`;
}

describe('parseRequestInfo', () => {
  it.each([
    ['GET', '/api/v1/pods', 'list - v1 - pods -'],
    ['GET', '/api/v1/namespaces/a/pods', 'list - v1 a pods -'],
    ['GET', '/api/v1/namespaces/a/pods/', 'list - v1 a pods -'],
    ['GET', '/api/v1/namespaces/a/pods/b', 'get - v1 a pods b'],
    ['PATCH', '/api/v1/namespaces/a/pods/b/status', 'patch - v1 a pods b /status'],
    ['GET', '/api/v1/namespaces', 'list - v1 - namespaces -'],
    ['GET', '/api/v1/namespaces/a', 'get - v1 a namespaces a'],
    ['PUT', '/api/v1/namespaces/a/finalize', 'update - v1 a namespaces a /finalize'],
    ['POST', '/apis/apps/v1/namespaces/a/deployments', 'create apps v1 a deployments -'],
    [
      'DELETE',
      '/apis/apps/v1/namespaces/a/deployments',
      'deletecollection apps v1 a deployments -',
    ],
    ['DELETE', '/apis/apps/v1/namespaces/a/deployments/d', 'delete apps v1 a deployments d'],
    ['GET', '/api/v1/watch/namespaces/a/pods', 'watch - v1 a pods -'],
    ['GET', '/api/v1/namespaces/a/roles/Sys:Tem%20odd', 'get - v1 a roles Sys:Tem odd'],
    ['GET', '/api/v1', 'get path /api/v1'],
    ['GET', '/apis/apps/v1', 'get path /apis/apps/v1'],
    ['POST', '/healthz', 'post path /healthz'],
  ])('%s %s is %s', (method, path, expected) => {
    expect(summary(method, path)).toBe(expected);
  });

  it('takes the watch parameter for collections only', () => {
    expect(summary('GET', '/api/v1/pods', true)).toBe('watch - v1 - pods -');
    expect(summary('GET', '/api/v1/namespaces/a/pods/b', true)).toBe('get - v1 a pods b');
  });

  it('recognises targets that name a resource', () => {
    for (const target of ['/api/v1/pods', '/api/v1/pods?x=/', '/apis/apps/v1/deployments']) {
      expect([target, isResourceTarget(target)]).toEqual([target, true]);
    }
    for (const target of [
      '/',
      '/api',
      '/api/',
      '/api/v1',
      '/api/v1/',
      '/api/v1?x=/y',
      '/apis/apps',
    ]) {
      expect([target, isResourceTarget(target)]).toEqual([target, false]);
    }
    for (const target of ['/apis/apps/v1', '/apis/apps/v1/', '/apis/a/v1?b=/c', '/healthz/ping']) {
      expect([target, isResourceTarget(target)]).toEqual([target, false]);
    }
  });

  it('refuses broken percent-encoding', () => {
    expect(() => parseRequestInfo('GET', '/api/v1/pods/%zz', false)).toThrow('malformed path');
  });
});

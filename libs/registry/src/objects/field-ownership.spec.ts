import { type ApiObject, definitions } from '@orch/api';
import { ApplyConflictError } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { objectStrategy, partStrategy } from '../store/strategies.js';
import type { ServedResource } from '../table/resource.js';
import { ResourceTable } from '../table/resource-table.js';
import { applyTo, keepUnchangedTimes, trackWrite } from './field-ownership.js';

const table = new ResourceTable(definitions);
const nowMs = Date.UTC(2021, 0, 2, 3, 4, 5);
const time = '2021-01-02T03:04:05Z';

function servedAs(head: string, version: string, plural: string): ServedResource {
  return table.find(dialect().group(head), version, plural)!;
}

function decoded(served: ServedResource, object: object): ApiObject {
  const { kind, apiVersion } = served;
  return served.toStored(served.codec.fromJson({ kind, apiVersion, ...object }));
}

function write(served: ServedResource, manager: string, object: ApiObject, existing?: ApiObject) {
  const { resetFields } = objectStrategy(served);
  trackWrite(served, object, existing, { manager, nowMs, resetFields, acceptsSentFields: true });
  return object;
}

function fieldsOf(object: ApiObject): unknown {
  return object.metadata?.managedFields?.map(({ manager, apiVersion, fieldsV1 }) => [
    manager,
    apiVersion,
    fieldsV1,
  ]);
}

const pods = servedAs('core', 'v1', 'pods');
const container = { name: 'a', image: 'a:1' };

describe('ownership of stored objects', () => {
  it('of a new one is all that was sent, but for what its kind sets back', () => {
    const pod = decoded(pods, {
      metadata: { name: 'a', labels: { app: 'x' } },
      spec: { containers: [container] },
      status: { phase: 'Running' },
    });
    write(pods, 'me', pod);
    expect(pod.metadata?.managedFields).toEqual([
      {
        manager: 'me',
        operation: 'Update',
        apiVersion: 'v1',
        time,
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
          'f:spec': {
            'f:containers': {
              'k:{"name":"a"}': { '.': {}, 'f:image': {}, 'f:name': {}, 'f:resources': {} },
            },
          },
        },
      },
    ]);
  });

  it('is not moved by what a write of the status cannot change', () => {
    const pod = write(pods, 'me', decoded(pods, { spec: { containers: [container] } }));
    const next = decoded(pods, {
      metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }] },
      spec: { containers: [{ ...container, image: 'a:2' }] },
      status: { phase: 'Running' },
    });
    const { resetFields } = partStrategy(pods, 'status', pods.definition.status as never);
    const before = fieldsOf(pod) as unknown[];
    trackWrite(pods, next, pod, { manager: 'agent', nowMs, resetFields, acceptsSentFields: false });
    expect(fieldsOf(next)).toEqual([['agent', 'v1', { 'f:status': { 'f:phase': {} } }], ...before]);
  });

  it('is recorded in the version of the request, and converts changes from another version', () => {
    const core = servedAs('core', 'v1', 'events');
    const group = servedAs('events', 'v1', 'events');
    const sent = { metadata: { name: 'a' }, note: 'first', reason: 'R', action: 'A' };
    const event = write(group, 'reporter', decoded(group, sent));
    const changed = decoded(core, {
      metadata: { name: 'a' },
      message: 'second',
      reason: 'R',
      action: 'A',
    });
    const next = write(core, 'editor', changed, structuredClone(event));
    const [editor, reporter] = next.metadata?.managedFields ?? [];
    expect([editor?.apiVersion, editor?.fieldsV1]).toEqual(['v1', { 'f:message': {} }]);
    expect(reporter?.apiVersion).toBe(group.apiVersion);
    expect(reporter?.fieldsV1).toHaveProperty('f:reason');
    expect(reporter?.fieldsV1).not.toHaveProperty('f:note');
  });

  it('is merged by apply without a change to the stored object', () => {
    const deployments = servedAs('apps', 'v1', 'deployments');
    const { apiVersion, kind } = deployments;
    const stored = write(deployments, 'me', decoded(deployments, { spec: { replicas: 1 } }));
    const before = structuredClone(stored);
    const config = { apiVersion, kind, spec: { replicas: 2 } };
    const { resetFields } = objectStrategy(deployments);
    const apply = { config, manager: 'you', nowMs, resetFields };
    expect(() => applyTo(deployments, stored, { ...apply, force: false })).toThrow(
      ApplyConflictError,
    );
    const { object } = applyTo(deployments, stored, { ...apply, force: true });
    expect(object).toMatchObject({ spec: { replicas: 2 } });
    expect(stored).toEqual(before);
  });
});

describe('times of ownership', () => {
  const configMaps = servedAs('core', 'v1', 'configmaps');
  const entry = (at: string) => ({ manager: 'm', operation: 'Apply' as const, time: at });
  const map = (at: string, text: string) =>
    decoded(configMaps, { metadata: { managedFields: [entry(at)] }, data: { text } });

  it('stay when they are all that would change', () => {
    const next = map('2021-01-02T00:00:00Z', 'same');
    keepUnchangedTimes(next, map('2020-01-01T00:00:00Z', 'same'));
    expect(next.metadata?.managedFields?.[0]?.time).toBe('2020-01-01T00:00:00Z');
  });

  it('are retained if another part of the object grows', () => {
    const next = map('2021-01-02T00:00:00Z', 'new');
    keepUnchangedTimes(next, map('2020-01-01T00:00:00Z', 'old'));
    expect(next.metadata?.managedFields?.[0]?.time).toBe('2021-01-02T00:00:00Z');
  });
});

import type { ApiObject } from '@orch/api';
import { StatusError } from '@orch/apimachinery';
import { dialect, systemClock } from '@orch/component';
import { Admission, type AdmissionRequest } from '@orch/registry';
import { WebhookError } from '@orch/security';
import type { MutatingWebhook } from '@orch/types/admissionregistration/v1';
import { describe, expect, it } from 'vitest';
import { createRequest, patchOf, type Respond, reviewing, webhook } from '../testing/reviewing.js';
import { MutatingWebhooks } from './mutating-webhooks.js';

const durations = { observe: () => undefined };
const observer = { plugin: () => durations, step: () => [durations] };
const add = (name: string) => patchOf({ op: 'add', path: `/data/${name}`, value: 'x' });

async function mutate(
  webhooks: readonly MutatingWebhook[],
  respond: Respond,
  request: AdmissionRequest = createRequest({ metadata: { name: 'a' }, data: {} }),
) {
  const { dependencies, called, metrics } = reviewing(webhooks, respond);
  const admission = new Admission([new MutatingWebhooks(dependencies)], systemClock, observer);
  const error: unknown = await admission.mutate(request).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const { data } = request.object as ApiObject & { data?: Record<string, string> };
  return { called, data, error, metrics };
}

const statusOf = (error: unknown) =>
  error instanceof StatusError ? [error.code, error.reason, error.message] : error;

describe('mutating webhooks', () => {
  it('see the changes of those before them', async () => {
    const seen: unknown[] = [];
    const { called, data } = await mutate([webhook('a'), webhook('b')], (name, { request }) => {
      seen.push((request.object as { data: unknown }).data);
      return add(name);
    });
    expect(called).toEqual(['a', 'b']);
    expect(seen).toEqual([{}, { a: 'x' }]);
    expect(data).toEqual({ a: 'x', b: 'x' });
  });

  it('are called once more if they want to see later changes', async () => {
    const ifNeeded = { reinvocationPolicy: 'IfNeeded' };
    const hooks = [webhook('a', ifNeeded), webhook('b'), webhook('c', ifNeeded), webhook('d')];
    const { called } = await mutate(hooks, (name) => (name === 'c' ? add(name) : {}));
    expect(called).toEqual(['a', 'b', 'c', 'd', 'a']);
  });

  it('are not called again without a change', async () => {
    const ifNeeded = { reinvocationPolicy: 'IfNeeded' };
    const { called } = await mutate([webhook('a', ifNeeded), webhook('b')], () => patchOf());
    expect(called).toEqual(['a', 'b']);
  });

  it('end with the first rejection and its status', async () => {
    const status = { code: 409, reason: 'Conflict', message: 'clash', metadata: { continue: 'x' } };
    const { called, error } = await mutate([webhook('a'), webhook('b')], () => ({
      ...{ allowed: false, status },
    }));
    expect(called).toEqual(['a']);
    const message = 'admission webhook "a" denied the request: clash';
    expect(statusOf(error)).toEqual([409, 'Conflict', message]);
    expect((error as StatusError).status.metadata).toEqual({ continue: 'x' });
  });

  it.each([
    [200, 400],
    [418, 418],
    [100_000, 500],
  ])('reject with a status code that is one: %i', async (code, expected) => {
    const { error } = await mutate([webhook('a')], () => ({ allowed: false, status: { code } }));
    expect((error as StatusError).code).toBe(expected);
  });

  it('fail the request if the call fails, unless failures are ignored', async () => {
    const failing = () => {
      throw new WebhookError('no route');
    };
    const { error, metrics } = await mutate([webhook('a')], failing);
    const message = 'Internal error occurred: failed calling webhook "a": no route';
    expect(statusOf(error)).toEqual([500, 'InternalError', message]);
    expect(await metrics.render()).toContain(
      'apiserver_admission_webhook_rejection_count{error_type="calling_webhook_error",name="a",operation="CREATE",rejection_code="0",type="admit"} 1',
    );
    const ignored = await mutate([webhook('a', { failurePolicy: 'Ignore' })], failing);
    expect(ignored.error).toBeUndefined();
  });

  it.each([
    [{ op: 'remove', path: '/data/absent' }, 'Unable to remove nonexistent key: absent'],
    [{ op: 'add', path: '/a/b', value: 1 }, 'doc is missing path: "/a/b": missing value'],
    [{ op: 'test', path: '/kind', value: 'X' }, 'testing value /kind failed: test failed'],
    [{ op: 'move', from: '/a/b', path: '/c' }, 'doc is missing from path: /a/b: missing value'],
    [{ op: 'add', path: '/metadata/finalizers', value: 'x' }, 'finalizers'],
    [{ op: 'replace', path: '/apiVersion', value: 'v2' }, 'for version "v2" in scheme "webhook"'],
    [{ op: 'replace', path: '/kind', value: 'Secret' }, 'unknown conversion'],
    [{ op: 'frobnicate', path: '/data' }, 'Unexpected kind: frobnicate'],
  ])(
    'fail the request for a patch that does not apply, even if failures are ignored: %o',
    async (operation, message) => {
      const hook = webhook('a', { failurePolicy: 'Ignore' });
      const { error } = await mutate([hook], () => patchOf(operation));
      expect((error as StatusError).code).toBe(500);
      expect((error as StatusError).message).toContain(message);
    },
  );

  it('cannot change the object of a delete', async () => {
    const old = createRequest({ metadata: { name: 'a' } }).object;
    const request = { ...createRequest({}), operation: 'DELETE' as const, object: undefined, old };
    const { dependencies } = reviewing([webhook('a')], () => add('x'));
    const admission = new Admission([new MutatingWebhooks(dependencies)], systemClock, observer);
    await expect(admission.mutate(request)).rejects.toThrow(
      'admission webhook "a" attempted to modify the object, which is not supported for this operation',
    );
  });

  it('are not called for a dry run that they do not support', async () => {
    const request = createRequest({ metadata: { name: 'a' } }, { dryRun: true });
    const hooks = [webhook('a', { sideEffects: 'Some' })];
    const { called, error } = await mutate(hooks, () => ({}), request);
    expect(called).toEqual([]);
    expect(statusOf(error)).toEqual([
      400,
      'BadRequest',
      'admission webhook "a" does not support dry run',
    ]);
  });

  it('are not called for writes of the server itself', async () => {
    const request = createRequest({ metadata: { name: 'a' } }, { bypassesWebhooks: true });
    const { called, error } = await mutate([webhook('a')], () => ({}), request);
    expect([called, error]).toEqual([[], undefined]);
  });

  it('end with the deadline of the request', async () => {
    const request = createRequest({ metadata: { name: 'a' } }, { deadlineMs: 0 });
    const { called, error } = await mutate([webhook('a')], () => ({}), request);
    expect(called).toEqual([]);
    expect((error as StatusError).code).toBe(504);
  });

  it('add warnings to the response and annotations to the audit event', async () => {
    const annotations: unknown[] = [];
    const warnings: string[] = [];
    const annotateAudit = (...annotation: unknown[]) => annotations.push(annotation);
    const context = { warnings, annotateAudit };
    const request = createRequest({ metadata: { name: 'a' }, data: {} }, context);
    const response = { warnings: ['careful'], auditAnnotations: { seen: 'yes' }, ...add('b') };
    await mutate([webhook('a')], () => response, request);
    expect(warnings).toEqual(['careful']);
    const domain = `webhook.admission.${dialect().groupDomain}`;
    const named = { configuration: 'c', webhook: 'a' };
    const patch = [{ op: 'add', path: '/data/b', value: 'x' }];
    const applied = { ...named, patch, patchType: 'JSONPatch' };
    expect(annotations).toEqual([
      ['a/seen', 'yes', 'Metadata'],
      [`patch.${domain}/round_0_index_0`, JSON.stringify(applied), 'Request'],
      [
        `mutation.${domain}/round_0_index_0`,
        JSON.stringify({ ...named, mutated: true }),
        'Metadata',
      ],
    ]);
  });
});

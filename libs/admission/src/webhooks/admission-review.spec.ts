import { dialect } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { parseResponse } from './admission-review.js';

const [v1, v1beta1] = ['v1', 'v1beta1'].map((version) =>
  dialect().apiVersion('admission', version),
);
const kind = 'AdmissionReview';
const allowed = { uid: 'u', allowed: true };

function parse(document: unknown, version: 'v1' | 'v1beta1' = 'v1', isMutating = true) {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  const received = { statusCode: 200, contentType: '', retryAfterSeconds: undefined, text };
  return parseResponse(received, { version, uid: 'u', isMutating });
}

describe('the response to a review', () => {
  it.each<[string, unknown, string]>([
    ['nothing', '', '0-length response with status code: 200 and content type: application/json'],
    ['text', 'hello', "couldn't get version/kind; json parse error: not JSON"],
    ['a list', '[]', "couldn't get version/kind; json parse error: not an object"],
    ['null', 'null', 'webhook response was absent'],
    ['no response', { apiVersion: v1, kind }, 'webhook response was absent'],
    [
      'another kind',
      { apiVersion: v1, kind: 'Review', response: allowed },
      `no kind "Review" is registered for version "${v1}" in scheme "webhook"`,
    ],
    [
      'another version',
      { apiVersion: v1beta1, kind, response: allowed },
      `${v1beta1} cannot be converted to ${v1}`,
    ],
    [
      'no kind',
      { response: allowed },
      `expected webhook response of ${v1}, Kind=AdmissionReview, got /, Kind=`,
    ],
    [
      'another uid',
      { apiVersion: v1, kind, response: { uid: 'x', allowed: true } },
      'expected response.uid="u", got "x"',
    ],
    [
      'a patch without a type',
      { apiVersion: v1, kind, response: { ...allowed, patch: 'W10=' } },
      'webhook returned response.patch but not response.patchType',
    ],
    [
      'a type without a patch',
      { apiVersion: v1, kind, response: { ...allowed, patchType: 'JSONPatch' } },
      'webhook returned response.patchType but not response.patch',
    ],
  ])('is rejected if it is %s', (_what, document, message) => {
    expect(() => parse(document)).toThrow(message);
  });

  it('is rejected if a validating webhook sends a patch', () => {
    const response = { ...allowed, patchType: 'JSONPatch', patch: 'W10=' };
    expect(() => parse({ apiVersion: v1, kind, response }, 'v1', false)).toThrow(
      'validating webhook may not return response.patch',
    );
  });

  it('needs neither uid, kind nor patch type in the first version', () => {
    const response = { allowed: true, patch: 'W10=' };
    expect(parse({ response }, 'v1beta1')).toMatchObject(response);
    expect(() => parse({ apiVersion: v1, kind, response }, 'v1beta1')).toThrow(
      'cannot be converted',
    );
  });
});

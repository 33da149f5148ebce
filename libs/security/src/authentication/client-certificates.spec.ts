import { expect, it } from 'vitest';
import type { AuthenticationRequest } from './authentication-request.js';
import { clientCertificates } from './client-certificates.js';

const clock = { nowMs: () => 0, monotonicMs: () => 0, setTimer: () => ({ cancel() {} }) };
const valid_to = 'Jan  1 00:00:00 2027 GMT';

async function userOf(subject: object, authorized = true) {
  const socket = { authorized, getPeerCertificate: () => ({ subject, valid_to }) };
  const authenticate = clientCertificates({
    authorities: { signed: () => true, version: 1 },
    clock,
    observer: { certificateUsed() {} },
  });
  return authenticate({ headers: {}, socket } as unknown as AuthenticationRequest);
}

it('reads user and groups from the subject', async () => {
  expect(await userOf({ CN: 'ann', O: ['dev', 'ops'] })).toMatchObject({
    name: 'ann',
    groups: ['dev', 'ops', 'system:authenticated'],
  });
});

it('takes the last of several common names as the user', async () => {
  expect(await userOf({ CN: ['root', 'ann'] })).toMatchObject({ name: 'ann' });
});

it.each([
  [{ CN: 'ann' }, false] as const,
  [{ CN: '' }, true] as const,
  [{ O: 'dev' }, true] as const,
])('rejects the subject %j if authorized is %s', async (subject, authorized) => {
  await expect(userOf(subject, authorized)).rejects.toMatchObject({ code: 401 });
});

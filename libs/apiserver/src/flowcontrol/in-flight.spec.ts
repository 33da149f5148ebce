import { authenticated } from '@orch/security';
import { expect, it } from 'vitest';
import { parseRequestInfo } from '../http/request-info.js';
import { testContext } from '../testing/test-context.js';
import { InFlight } from './in-flight.js';

function request(method: string, ...groups: string[]) {
  const info = parseRequestInfo(method, '/api/v1/namespaces/n/configmaps/c', false);
  const context = testContext({} as never, {} as never);
  return Object.assign(context, { info, user: authenticated('someone', '', groups) });
}

it('rejects requests above the limit and counts readers and writers separately', () => {
  const inFlight = new InFlight({ readOnly: 1, mutating: 0 });
  const seat = inFlight.enter(request('GET'));
  expect(inFlight.enter(request('GET'))).toBeUndefined();
  for (let count = 1; count <= 2; count += 1) {
    expect(inFlight.enter(request('PUT'))).toBeDefined();
    expect(inFlight.executingCount('mutating')).toBe(count);
  }
  seat?.release();
  expect(inFlight.enter(request('GET'))).toBeDefined();
});

it('admits privileged users without counting them', () => {
  const inFlight = new InFlight({ readOnly: 1, mutating: 1 });
  inFlight.enter(request('GET'));
  const privileged = inFlight.enter(request('GET', 'system:masters'));
  expect(privileged).toBeDefined();
  privileged?.release();
  expect(inFlight.executingCount('readOnly')).toBe(1);
  expect(inFlight.enter(request('GET'))).toBeUndefined();
});

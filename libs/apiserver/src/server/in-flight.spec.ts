import { expect, it } from 'vitest';
import { authenticated } from '../authentication/user.js';
import { parseRequestInfo } from '../request/request-info.js';
import { newExchange } from '../response/exchange.js';
import { InFlight } from './in-flight.js';

function request(method: string, ...groups: string[]) {
  const info = parseRequestInfo(method, '/api/v1/namespaces/n/configmaps/c', false);
  const exchange = newExchange({} as never, {} as never);
  return { info, user: authenticated('someone', '', groups), exchange, arrivalMs: 0 };
}

it('turns away above the limit, and counts readers and writers apart', () => {
  const inFlight = new InFlight({ readOnly: 1, mutating: 0 });
  const place = inFlight.enter(request('GET'));
  expect(inFlight.enter(request('GET'))).toBeUndefined();
  for (let count = 1; count <= 2; count += 1) {
    expect(inFlight.enter(request('PUT'))).toBeDefined();
    expect(inFlight.executingCount('mutating')).toBe(count);
  }
  place?.leave();
  expect(inFlight.enter(request('GET'))).toBeDefined();
});

it('lets in whoever may do everything, without a count', () => {
  const inFlight = new InFlight({ readOnly: 1, mutating: 1 });
  inFlight.enter(request('GET'));
  const privileged = inFlight.enter(request('GET', 'system:masters'));
  expect(privileged).toBeDefined();
  privileged?.leave();
  expect(inFlight.executingCount('readOnly')).toBe(1);
  expect(inFlight.enter(request('GET'))).toBeUndefined();
});

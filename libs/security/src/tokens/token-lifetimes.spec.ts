import { expect, it } from 'vitest';
import { tokenLifetime } from './token-lifetimes.js';

const unlimited = { secondsMax: 0, extendExpiration: true };

it('tokenLifetime extends only tokens that admission injects for the API', () => {
  expect(tokenLifetime(3_607, true, unlimited)).toEqual({
    requestedSeconds: 3_607,
    seconds: 31_536_000,
    isExtended: true,
  });
  expect(tokenLifetime(3_607, false, unlimited).seconds).toBe(3_607);
  expect(tokenLifetime(3_600, true, unlimited).seconds).toBe(3_600);
  expect(tokenLifetime(3_607, true, { secondsMax: 0, extendExpiration: false }).seconds).toBe(
    3_607,
  );
});

it('tokenLifetime shortens requests above the maximum, which prevents an extension', () => {
  const limited = { secondsMax: 3_600, extendExpiration: true };
  expect(tokenLifetime(7_200, true, limited).requestedSeconds).toBe(3_600);
  expect(tokenLifetime(3_607, true, limited)).toEqual({
    requestedSeconds: 3_600,
    seconds: 3_600,
    isExtended: false,
  });
  expect(tokenLifetime(600, true, limited).seconds).toBe(600);
});

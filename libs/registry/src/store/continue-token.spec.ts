import type { Revision } from '@orch/store';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeContinueToken, encodeContinueToken } from './continue-token.js';

describe('continue tokens', () => {
  it('are decoded to their encoded value', () => {
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 1 }), { nil: undefined }),
        fc.string({ minLength: 1, maxLength: 300 }),
        (revision, startAfter) => {
          const token = { revision: revision as Revision | undefined, startAfter };
          expect(decodeContinueToken(encodeContinueToken(token))).toEqual(token);
        },
      ),
    );
  });

  it.each(['', '%%%', 'e30', 'bnVsbA', 'x'.repeat(5_000)])('refuses %j', (text) => {
    expect(() => decodeContinueToken(text)).toThrow('continue key is not valid');
  });
});

import { expect, it } from 'vitest';
import type { Revision } from '../../versioned-store.js';
import { eventOf } from './changes.js';

it('eventOf rejects the deletion of a key that did not exist', () => {
  const deletion = { key: 'core/pods/a', put: undefined, final: undefined, previous: undefined };
  expect(() => eventOf({ ...deletion, existed: true }, undefined, 7 as Revision)).toThrowError(
    expect.objectContaining({ code: 'Corrupt' }),
  );
});

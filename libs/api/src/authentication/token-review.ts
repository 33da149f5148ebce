/** TokenReview: authenticates a token; the server writes the result into the status. */
import type { TokenReview } from '@orch/types/authentication/v1';
import { define } from '../definition.js';

export const tokenReview = define<TokenReview>({
  plural: 'tokenreviews',
  singular: '',
  kind: 'TokenReview',
  namespaced: false,
  verbs: ['create'],
  virtual: true,
  versions: [
    { group: 'authentication', version: 'v1' },
    {
      group: 'authentication',
      version: 'v1beta1',
      deprecation: {
        since: '1.19',
        unavailableFrom: '1.22',
        use: { group: 'authentication', version: 'v1', kind: 'TokenReview' },
      },
    },
  ],
  stored: { group: 'authentication', version: 'v1' },
  columns: [],
});

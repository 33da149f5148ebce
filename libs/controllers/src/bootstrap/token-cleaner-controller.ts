/** Deletes bootstrap tokens when they expire. */
import { isConflict, isNotFound, objectKey, resources } from '@orch/client';
import { type ControllerFactory, done } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { never } from '../common/watches.js';
import { expirationMs } from './token-secret-plan.js';
import { tokenSecrets } from './token-secrets.js';

export const tokenCleaner: ControllerFactory = (context) => {
  const { client, clock, informers } = context;
  const selection = tokenSecrets();
  const secrets = informers.informer(resources.secrets, selection).lister;
  return controller('token_cleaner', context)
    .watches(resources.secrets, (secret) => [objectKey(secret)], { selection, delete: never })
    .reconcile(async (key) => {
      const secret = secrets.get(key);
      const endMs = secret && expirationMs(secret);
      if (endMs === undefined) return done;
      const remainingMs = endMs - clock.nowMs();
      if (remainingMs > 0) return { requeueAfterMs: remainingMs };
      const { name = '', uid } = secret?.metadata ?? {};
      const deletion = client
        .resource(resources.secrets, selection.namespace)
        .delete(name, { preconditions: { uid } });
      await ignoring(deletion, isNotFound, isConflict);
      return done;
    });
};

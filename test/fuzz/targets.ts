/** Everything that is fuzzed. */
import type { Target } from './target.js';
import { applyTargets } from './targets/apply.js';
import { bodyTargets } from './targets/bodies.js';
import { fileTargets } from './targets/files.js';
import { kindTargets } from './targets/kinds.js';
import { patchTargets } from './targets/patches.js';
import { replicaTargets } from './targets/replicas.js';
import { requestTargets } from './targets/requests.js';
import { schemaTargets } from './targets/schemas.js';
import { serverTargets } from './targets/server.js';
import { streamTargets } from './targets/streams.js';
import { valueTargets } from './targets/values.js';

export const targets: readonly Target[] = [
  ...bodyTargets,
  ...kindTargets,
  ...patchTargets,
  ...applyTargets,
  ...schemaTargets,
  ...requestTargets,
  ...valueTargets,
  ...streamTargets,
  ...replicaTargets,
  ...fileTargets,
  ...serverTargets,
];

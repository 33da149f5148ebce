/** All fuzz targets. */
import type { Target } from './target.js';
import { applyTargets } from './targets/apply.js';
import { authorizationTargets } from './targets/authorization.js';
import { bodyTargets } from './targets/bodies.js';
import { certificateTargets } from './targets/certificates.js';
import { fileTargets } from './targets/files.js';
import { kindChangeTargets } from './targets/kind-changes.js';
import { kindWriteTargets } from './targets/kind-writes.js';
import { kindTargets } from './targets/kinds.js';
import { nodeGraphTargets } from './targets/node-graph.js';
import { patchTargets } from './targets/patches.js';
import { replicaTargets } from './targets/replicas.js';
import { requestTargets } from './targets/requests.js';
import { schemaTargets } from './targets/schemas.js';
import { serverTargets } from './targets/server.js';
import { streamTargets } from './targets/streams.js';
import { tokenTargets } from './targets/tokens.js';
import { valueTargets } from './targets/values.js';

export const targets: readonly Target[] = [
  ...bodyTargets,
  ...kindTargets,
  ...kindWriteTargets,
  ...kindChangeTargets,
  ...patchTargets,
  ...applyTargets,
  ...schemaTargets,
  ...requestTargets,
  ...valueTargets,
  ...streamTargets,
  ...replicaTargets,
  ...fileTargets,
  ...authorizationTargets,
  ...nodeGraphTargets,
  ...tokenTargets,
  ...certificateTargets,
  ...serverTargets,
];

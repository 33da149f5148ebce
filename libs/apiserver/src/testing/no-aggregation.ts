/** A cluster without aggregated API servers, for tests. */
import type { AggregatedApis } from '../aggregation/aggregated-apis.js';
import type { ServerDocuments } from '../aggregation/server-documents.js';

export const noAggregation = {
  apis: { revision: 0, servers: [], registered: [], serverOf: () => undefined },
  documents: { revision: 0, of: () => undefined },
} satisfies {
  apis: Pick<AggregatedApis, 'revision' | 'servers' | 'registered' | 'serverOf'>;
  documents: Pick<ServerDocuments, 'revision' | 'of'>;
};

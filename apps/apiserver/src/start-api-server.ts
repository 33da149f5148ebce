/**
 * Starts the API server: validates the flags, creates the modules, listens, then creates the
 * objects of a new cluster. The server listens before the store has a quorum, so that it serves
 * reads that need no quorum.
 */
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { nestLogger } from '@orch/component';
import { validatedContext } from './context/api-server-context.js';
import type { ProcessContext } from './context/process-context.js';
import { httpModule } from './http/http.module.js';
import { HttpsServer } from './http/https-server.js';
import { ClusterBootstrap } from './store/cluster-bootstrap.js';

/** Rejects with FatalError or ValueError; the shutdown steps of started modules are registered. */
export async function startApiServer(process: ProcessContext): Promise<void> {
  const context = await validatedContext(process);
  const server = await HttpsServer.create(context);
  const app = await NestFactory.create<NestFastifyApplication>(
    httpModule(context, server),
    server.adapter,
    { logger: nestLogger(context.logger), bodyParser: false, abortOnError: false },
  );
  const port = await server.listen(app);
  await app.get(ClusterBootstrap).start(port);
}

/** The health of the server, in total and per check, for any method. */

import { All, Controller, Req, Res } from '@nestjs/common';
import { Discovery, RequestHandler, sendUnknownPath } from '@orch/apiserver';
import { HealthChecks, type HealthEndpoint, healthQuery } from '@orch/component';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendText, serveWith } from './serve-with.js';

@Controller()
export class HealthController {
  constructor(
    private readonly handler: RequestHandler,
    private readonly discovery: Discovery,
    private readonly health: HealthChecks,
  ) {}

  @All(['healthz', 'healthz/*'])
  healthz(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.report('healthz', request, reply);
  }

  @All(['livez', 'livez/*'])
  livez(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.report('livez', request, reply);
  }

  @All(['readyz', 'readyz/*'])
  readyz(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.report('readyz', request, reply);
  }

  private report(
    endpoint: HealthEndpoint,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    return serveWith(this.handler, request, reply, async (context) => {
      const { path } = context.info;
      const name = path.slice(endpoint.length + 2);
      const answer =
        name === ''
          ? await this.health.report(
              endpoint,
              healthQuery(new URLSearchParams(context.query.toString())),
            )
          : await this.health.reportOne(endpoint, name);
      if (!answer) return sendUnknownPath(context, this.discovery.paths());
      return sendText(context, answer.statusCode, answer.contentType, answer.body);
    });
  }
}

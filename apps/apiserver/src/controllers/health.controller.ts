/** Health of the server as a whole and check by check. Any method will do. */

import { All, Controller, Req, Res } from '@nestjs/common';
import { ApiHandler, Discovery, sendUnknownPath } from '@orch/apiserver';
import { HealthChecks, type HealthEndpoint, healthQuery } from '@orch/component';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerWith, sendText } from './answer.js';

@Controller()
export class HealthController {
  constructor(
    private readonly api: ApiHandler,
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
    return answerWith(this.api, request, reply, async (admitted) => {
      const { path } = admitted.info;
      const name = path.slice(endpoint.length + 2);
      const answer =
        name === ''
          ? await this.health.report(
              endpoint,
              healthQuery(new URLSearchParams(admitted.query.toString())),
            )
          : await this.health.reportOne(endpoint, name);
      if (!answer) return sendUnknownPath(admitted.exchange, this.discovery.paths());
      return sendText(admitted, answer.statusCode, answer.contentType, answer.body);
    });
  }
}

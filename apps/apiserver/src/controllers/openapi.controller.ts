/** OpenAPI: what the server offers, for tools that check, explain and complete. */

import { All, Controller, Req, Res } from '@nestjs/common';
import {
  type Admitted,
  ApiHandler,
  OpenApiDocuments,
  serveGroupVersion,
  serveIndex,
  serveWholeDocument,
} from '@orch/apiserver';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerWith, onlyGet } from './answer.js';

const groupVersionsAt = '/openapi/v3/';

@Controller()
export class OpenApiController {
  constructor(
    private readonly api: ApiHandler,
    private readonly documents: OpenApiDocuments,
  ) {}

  @All('openapi/v2')
  whole(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, ({ exchange }) =>
      serveWholeDocument(this.documents, exchange),
    );
  }

  @All('openapi/v3')
  index(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, ({ exchange }) => serveIndex(this.documents, exchange));
  }

  @All('openapi/v3/*')
  groupVersion(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, ({ exchange, info, query }) => {
      const place = info.path.slice(groupVersionsAt.length);
      return serveGroupVersion(this.documents, exchange, place, query);
    });
  }

  private answer(
    request: FastifyRequest,
    reply: FastifyReply,
    send: (admitted: Admitted) => Promise<void>,
  ): Promise<void> {
    return answerWith(this.api, request, reply, (admitted) => {
      onlyGet(admitted);
      return send(admitted);
    });
  }
}

/** The OpenAPI documents, for tools that validate, explain and complete. */

import { All, Controller, Req, Res } from '@nestjs/common';
import {
  OpenApiDocuments,
  type RequestContext,
  RequestHandler,
  serveGroupVersion,
  serveIndex,
  serveWholeDocument,
} from '@orch/apiserver';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { onlyGet, serveWith } from './serve-with.js';

const groupVersionsAt = '/openapi/v3/';

@Controller()
export class OpenApiController {
  constructor(
    private readonly handler: RequestHandler,
    private readonly documents: OpenApiDocuments,
  ) {}

  @All('openapi/v2')
  whole(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.serve(request, reply, (context) => serveWholeDocument(this.documents, context));
  }

  @All('openapi/v3')
  index(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.serve(request, reply, (context) => serveIndex(this.documents, context));
  }

  @All('openapi/v3/*')
  groupVersion(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.serve(request, reply, (context) => {
      const { info, query } = context;
      const place = info.path.slice(groupVersionsAt.length);
      return serveGroupVersion(this.documents, context, place, query);
    });
  }

  private serve(
    request: FastifyRequest,
    reply: FastifyReply,
    send: (context: RequestContext) => Promise<void>,
  ): Promise<void> {
    return serveWith(this.handler, request, reply, (context) => {
      onlyGet(context);
      return send(context);
    });
  }
}

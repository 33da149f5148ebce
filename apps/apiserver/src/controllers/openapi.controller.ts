/** OpenAPI documents: the index, and one document per group version. */

import { All, Controller, Param, Req, Res } from '@nestjs/common';
import {
  type Admitted,
  ApiHandler,
  Discovery,
  OpenApiDocuments,
  sendBody,
  sendUnknownPath,
} from '@orch/apiserver';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerWith, onlyGet } from './answer.js';

@Controller('openapi/v3')
export class OpenApiController {
  constructor(
    private readonly api: ApiHandler,
    private readonly discovery: Discovery,
    private readonly documents: OpenApiDocuments,
  ) {}

  @All()
  index(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return answerWith(this.api, request, reply, async (admitted) => {
      onlyGet(admitted);
      sendBody(admitted.exchange, 200, 'application/json', await this.documents.index());
    });
  }

  @All('api/:version')
  core(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('version') version: string,
  ): Promise<void> {
    return answerWith(this.api, request, reply, (admitted) => this.send(admitted, '', version));
  }

  @All('apis/:group/:version')
  group(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('group') group: string,
    @Param('version') version: string,
  ): Promise<void> {
    return answerWith(this.api, request, reply, (admitted) => this.send(admitted, group, version));
  }

  private send(admitted: Admitted, group: string, version: string): void {
    onlyGet(admitted);
    const document = this.documents.document(group, version);
    if (document) sendBody(admitted.exchange, 200, 'application/json', document.bytes);
    else sendUnknownPath(admitted.exchange, this.discovery.paths());
  }
}

/** `/api` and `/apis` and what is directly below them. */

import { All, Controller, Param, Req, Res } from '@nestjs/common';
import { type Admitted, ApiHandler, Discovery, sendNotFoundText } from '@orch/apiserver';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerWith, onlyGet } from './answer.js';

type Document = ReturnType<Discovery['group']>;

@Controller()
export class DiscoveryController {
  constructor(
    private readonly api: ApiHandler,
    private readonly discovery: Discovery,
  ) {}

  @All('api')
  versions(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.root(request, reply, 'api');
  }

  @All('api/:version')
  coreResources(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('version') version: string,
  ): Promise<void> {
    return this.answer(request, reply, () => this.discovery.resources('', version));
  }

  @All('apis')
  groups(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.root(request, reply, 'apis');
  }

  @All('apis/:group')
  group(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('group') group: string,
  ): Promise<void> {
    return this.answer(request, reply, () => this.discovery.group(group));
  }

  @All('apis/:group/:version')
  groupResources(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('group') group: string,
    @Param('version') version: string,
  ): Promise<void> {
    return this.answer(request, reply, () => this.discovery.resources(group, version));
  }

  private root(request: FastifyRequest, reply: FastifyReply, place: 'api' | 'apis'): Promise<void> {
    return answerWith(this.api, request, reply, (admitted) => {
      onlyGet(admitted);
      return this.discovery.sendRoot(admitted.exchange, place);
    });
  }

  private answer(
    request: FastifyRequest,
    reply: FastifyReply,
    document: () => Document,
  ): Promise<void> {
    return answerWith(this.api, request, reply, (admitted: Admitted) => {
      const found = document();
      if (!found) return sendNotFoundText(admitted.exchange);
      onlyGet(admitted);
      return this.discovery.send(admitted.exchange, found);
    });
  }
}

/** The discovery documents below `/api` and `/apis`. */

import { All, Controller, Param, Req, Res } from '@nestjs/common';
import { Discovery, type RequestContext, RequestHandler, sendNotFoundText } from '@orch/apiserver';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { onlyGet, serveWith } from './serve-with.js';

type Document = ReturnType<Discovery['group']>;

@Controller()
export class DiscoveryController {
  constructor(
    private readonly handler: RequestHandler,
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
    return this.serve(request, reply, () => this.discovery.resources('', version));
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
    return this.serve(request, reply, () => this.discovery.group(group));
  }

  @All('apis/:group/:version')
  groupResources(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('group') group: string,
    @Param('version') version: string,
  ): Promise<void> {
    return this.serve(request, reply, () => this.discovery.resources(group, version));
  }

  private root(request: FastifyRequest, reply: FastifyReply, place: 'api' | 'apis'): Promise<void> {
    return serveWith(this.handler, request, reply, (context) => {
      onlyGet(context);
      return this.discovery.sendRoot(context, place);
    });
  }

  private serve(
    request: FastifyRequest,
    reply: FastifyReply,
    document: () => Document,
  ): Promise<void> {
    return serveWith(this.handler, request, reply, (context: RequestContext) => {
      const found = document();
      if (!found) return sendNotFoundText(context);
      onlyGet(context);
      return this.discovery.send(context, found);
    });
  }
}

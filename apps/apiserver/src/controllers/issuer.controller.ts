/** OpenID discovery of the issuer of service account tokens, and its keys. */

import { All, Controller, Req, Res } from '@nestjs/common';
import { StatusError } from '@orch/apimachinery';
import { type RequestContext, RequestHandler, sendBody } from '@orch/apiserver';
import { IssuerDocuments } from '@orch/security';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { onlyGet, serveWith } from './serve-with.js';

const keySetType = 'application/jwk-set+json';
/** Keys change rarely, and both keys are served while one replaces the other. */
const cacheControl = 'public, max-age=3600';

@Controller()
export class IssuerController {
  constructor(
    private readonly handler: RequestHandler,
    private readonly issuer: IssuerDocuments,
  ) {}

  @All('.well-known/openid-configuration')
  configuration(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return serveWith(this.handler, request, reply, (context) => {
      onlyGet(context);
      const port = request.raw.socket.localPort ?? 443;
      send(context, 'application/json', this.issuer.configuration(port));
    });
  }

  @All('openid/v1/jwks')
  keys(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return serveWith(this.handler, request, reply, (context) => {
      onlyGet(context);
      if (!takesKeySet(request.headers.accept)) {
        throw new StatusError({
          code: 406,
          reason: 'NotAcceptable',
          message: '406: Not Acceptable',
          details: {},
        });
      }
      send(context, keySetType, this.issuer.keySet());
    });
  }
}

function takesKeySet(accept = '*/*'): boolean {
  const types = accept.split(',').map((clause) => clause.split(';')[0]?.trim().toLowerCase());
  return [keySetType, 'application/*', '*/*'].some((type) => types.includes(type));
}

function send(context: RequestContext, contentType: string, document: object): void {
  context.headers['cache-control'] = cacheControl;
  sendBody(context, 200, contentType, Buffer.from(JSON.stringify(document)));
}

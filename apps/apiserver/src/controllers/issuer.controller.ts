/** OpenID discovery of the issuer of service account tokens, and its keys. */

import { All, Controller, Req, Res } from '@nestjs/common';
import { StatusError } from '@orch/apimachinery';
import { type Admitted, ApiHandler, IssuerDocuments, sendBody } from '@orch/apiserver';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerWith, onlyGet } from './answer.js';

const keySetType = 'application/jwk-set+json';
/** Keys change rarely, and both keys are served while one replaces the other. */
const cacheControl = 'public, max-age=3600';

@Controller()
export class IssuerController {
  constructor(
    private readonly api: ApiHandler,
    private readonly issuer: IssuerDocuments,
  ) {}

  @All('.well-known/openid-configuration')
  configuration(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return answerWith(this.api, request, reply, (admitted) => {
      onlyGet(admitted);
      const port = request.raw.socket.localPort ?? 443;
      send(admitted, 'application/json', this.issuer.configuration(port));
    });
  }

  @All('openid/v1/jwks')
  keys(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return answerWith(this.api, request, reply, (admitted) => {
      onlyGet(admitted);
      if (!takesKeySet(request.headers.accept)) {
        throw new StatusError({
          code: 406,
          reason: 'NotAcceptable',
          message: '406: Not Acceptable',
          details: {},
        });
      }
      send(admitted, keySetType, this.issuer.keySet());
    });
  }
}

function takesKeySet(accept = '*/*'): boolean {
  const types = accept.split(',').map((clause) => clause.split(';')[0]?.trim().toLowerCase());
  return [keySetType, 'application/*', '*/*'].some((type) => types.includes(type));
}

function send({ exchange }: Admitted, contentType: string, document: object): void {
  exchange.headers['cache-control'] = cacheControl;
  sendBody(exchange, 200, contentType, Buffer.from(JSON.stringify(document)));
}

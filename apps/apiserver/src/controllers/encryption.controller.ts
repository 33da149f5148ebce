/** Writes stored objects again under the present encryption key, for operators. */
import { All, Controller, Req, Res } from '@nestjs/common';
import { badRequest, methodNotSupported } from '@orch/apimachinery';
import { EncryptedStore, Reencryption, RequestHandler, readBody } from '@orch/apiserver';
import { ResourceTable } from '@orch/registry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ReencryptionPage, requestOf } from '../cluster/requests.js';
import { ApiServerContext } from '../context/api-server-context.js';
import { OpenedStore } from '../store/open-store.js';
import { sendJson, serveWith } from './serve-with.js';

@Controller('cluster/reencrypt')
export class EncryptionController {
  private readonly reencryption: Reencryption;

  constructor(
    private readonly handler: RequestHandler,
    private readonly context: ApiServerContext,
    private readonly encrypted: EncryptedStore,
    { store: stored }: OpenedStore,
    table: ResourceTable,
  ) {
    const timeoutMs = context.options.requestTimeoutMs;
    this.reencryption = new Reencryption({ stored, encrypted, table, timeoutMs });
  }

  @All()
  reencrypt(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return serveWith(this.handler, request, reply, async (context) => {
      if (context.request.method !== 'POST') throw methodNotSupported();
      const { after } = requestOf(ReencryptionPage, await readBody(context));
      if (!this.context.settings.encryption) {
        throw badRequest('the server runs without --encryption-provider-config');
      }
      sendJson(context, await this.reencryption.run(this.encrypted.resourceNames(), after));
    });
  }
}

/** Configuration and profiles of the process, for users who may get these paths. */

import { All, Controller, type OnModuleDestroy, Req, Res } from '@nestjs/common';
import { tooManyRequests } from '@orch/apimachinery';
import { Discovery, type RequestContext, RequestHandler, sendUnknownPath } from '@orch/apiserver';
import { DebugPages, ProfileRunningError } from '@orch/component';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiServerContext } from '../context/api-server-context.js';
import { onlyGet, sendText, serveWith } from './serve-with.js';

const retryAfterSeconds = 10;

@Controller()
export class DebugController implements OnModuleDestroy {
  private readonly pages: DebugPages;

  constructor(
    private readonly handler: RequestHandler,
    private readonly discovery: Discovery,
    { options }: ApiServerContext,
  ) {
    const { profiling, contentionProfiling } = options.profiles;
    const configuration = () => ({ apiserver: options });
    this.pages = new DebugPages({ configuration, profiling, contentionProfiling });
  }

  @All(['configz', 'debug/pprof', 'debug/pprof/*'])
  page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return serveWith(this.handler, request, reply, async (context) => {
      const page = await this.pageOf(context);
      if (!page) return sendUnknownPath(context, this.discovery.paths());
      sendText(context, 200, page.contentType, page.body);
    });
  }

  onModuleDestroy(): void {
    this.pages.stop();
  }

  private async pageOf(context: RequestContext) {
    onlyGet(context);
    try {
      const query = new URLSearchParams(context.query.toString());
      return await this.pages.page(context.info.path, query);
    } catch (error) {
      if (!(error instanceof ProfileRunningError)) throw error;
      throw tooManyRequests(error.message, retryAfterSeconds);
    }
  }
}

/** The index of paths, the version document and metrics. */

import { All, Controller, Req, Res } from '@nestjs/common';
import { Discovery, RequestHandler } from '@orch/apiserver';
import { buildInfo, Metrics } from '@orch/component';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { onlyGet, sendJson, sendText, serveWith } from './serve-with.js';

/** Updates the metrics of the stored objects. */
export class StoredCounts {
  constructor(readonly refresh: () => Promise<void>) {}
}

@Controller()
export class RootController {
  constructor(
    private readonly handler: RequestHandler,
    private readonly discovery: Discovery,
    private readonly metrics: Metrics,
    private readonly storage: StoredCounts,
  ) {}

  @All()
  index(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return serveWith(this.handler, request, reply, (context) => {
      onlyGet(context);
      sendJson(context, { paths: this.discovery.paths() });
    });
  }

  @All('version')
  version(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return serveWith(this.handler, request, reply, (context) => {
      onlyGet(context);
      sendJson(context, buildInfo());
    });
  }

  @All('metrics')
  scrape(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return serveWith(this.handler, request, reply, async (context) => {
      onlyGet(context);
      await this.storage.refresh();
      sendText(context, 200, this.metrics.contentType, await this.metrics.render());
    });
  }
}

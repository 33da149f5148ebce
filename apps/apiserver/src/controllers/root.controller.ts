/** The index of paths, the version document and metrics. */

import { All, Controller, Req, Res } from '@nestjs/common';
import { ApiHandler, Discovery } from '@orch/apiserver';
import { buildInfo, Metrics } from '@orch/component';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerWith, onlyGet, sendJson, sendText } from './answer.js';

/** Brings the metrics of what is stored up to date. */
export class StoredCounts {
  constructor(readonly refresh: () => Promise<void>) {}
}

@Controller()
export class RootController {
  constructor(
    private readonly api: ApiHandler,
    private readonly discovery: Discovery,
    private readonly metrics: Metrics,
    private readonly storage: StoredCounts,
  ) {}

  @All()
  index(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return answerWith(this.api, request, reply, (admitted) => {
      onlyGet(admitted);
      sendJson(admitted, { paths: this.discovery.paths() });
    });
  }

  @All('version')
  version(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return answerWith(this.api, request, reply, (admitted) => {
      onlyGet(admitted);
      sendJson(admitted, buildInfo());
    });
  }

  @All('metrics')
  scrape(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return answerWith(this.api, request, reply, async (admitted) => {
      onlyGet(admitted);
      await this.storage.refresh();
      sendText(admitted, 200, this.metrics.contentType, await this.metrics.render());
    });
  }
}

/** The current state of priority and fairness, for operators who investigate an overload. */

import { All, Controller, Req, Res } from '@nestjs/common';
import {
  Discovery,
  dumpPriorityLevels,
  dumpQueues,
  dumpRequests,
  FlowControl,
  type RequestContext,
  RequestHandler,
  sendUnknownPath,
} from '@orch/apiserver';
import { systemClock } from '@orch/component';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServerGate } from '../context/request-gate.js';
import { onlyGet, sendText, serveWith } from './serve-with.js';

type Levels = FlowControl['levels'];

@Controller('debug/api_priority_and_fairness')
export class FlowControlController {
  constructor(
    private readonly handler: RequestHandler,
    private readonly discovery: Discovery,
    private readonly gate: ServerGate,
  ) {}

  @All('dump_priority_levels')
  levels(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.dump(request, reply, dumpPriorityLevels);
  }

  @All('dump_queues')
  queues(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.dump(request, reply, dumpQueues);
  }

  @All('dump_requests')
  requests(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.dump(request, reply, (levels, { query }) => {
      const withDetails = query.get('includeRequestDetails') !== '';
      return dumpRequests(levels, withDetails, systemClock);
    });
  }

  private dump(
    request: FastifyRequest,
    reply: FastifyReply,
    table: (levels: Levels, context: RequestContext) => string,
  ): Promise<void> {
    return serveWith(this.handler, request, reply, (context) => {
      const { flowControl } = this.gate;
      if (!flowControl) return sendUnknownPath(context, this.discovery.paths());
      onlyGet(context);
      sendText(context, 200, 'text/plain; charset=utf-8', table(flowControl.levels, context));
    });
  }
}

/** What priority and fairness does right now, for whoever looks for the cause of an overload. */

import { All, Controller, Req, Res } from '@nestjs/common';
import {
  type Admitted,
  ApiHandler,
  Discovery,
  dumpPriorityLevels,
  dumpQueues,
  dumpRequests,
  FlowControl,
  sendUnknownPath,
} from '@orch/apiserver';
import { systemClock } from '@orch/component';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerWith, onlyGet, sendText } from './answer.js';

/** The flow control where there is one, nothing where it is off. */
export class FlowControlAccess {
  constructor(readonly flowControl: FlowControl | undefined) {}
}

type Levels = FlowControl['levels'];

@Controller('debug/api_priority_and_fairness')
export class FlowControlController {
  constructor(
    private readonly api: ApiHandler,
    private readonly discovery: Discovery,
    private readonly access: FlowControlAccess,
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
    table: (levels: Levels, admitted: Admitted) => string,
  ): Promise<void> {
    return answerWith(this.api, request, reply, (admitted) => {
      const { flowControl } = this.access;
      if (!flowControl) return sendUnknownPath(admitted.exchange, this.discovery.paths());
      onlyGet(admitted);
      sendText(admitted, 200, 'text/plain; charset=utf-8', table(flowControl.levels, admitted));
    });
  }
}

/** Status, members, leader, check and backup of the cluster of replicas, for operators. */

import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { All, Controller, Req, Res } from '@nestjs/common';
import { methodNotSupported, StatusError } from '@orch/apimachinery';
import {
  headersFor,
  type RequestContext,
  RequestHandler,
  readBody,
  writeHead,
} from '@orch/apiserver';
import { saveSnapshot } from '@orch/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ClusterOperations } from '../cluster/cluster-operations.js';
import { LeaderMove, NewMember, requestOf } from '../cluster/requests.js';
import { OpenedStore } from '../store/open-store.js';
import { onlyGet, sendJson, serveWith } from './serve-with.js';

@Controller('cluster')
export class ClusterController {
  constructor(
    private readonly handler: RequestHandler,
    private readonly opened: OpenedStore,
  ) {}

  @All('status')
  status(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.serve(request, reply, async (context, cluster) => {
      onlyGet(context);
      sendJson(context, await cluster.status());
    });
  }

  @All('members')
  members(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.serve(request, reply, async (context, cluster) => {
      if (context.request.method === 'GET') return sendJson(context, cluster.members());
      only(context, 'POST');
      const wanted = requestOf(NewMember, await readBody(context));
      sendJson(context, { member: await cluster.addMember(wanted) });
    });
  }

  @All('members/:member')
  member(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.serve(request, reply, async (context, cluster) => {
      only(context, 'DELETE');
      sendJson(context, await cluster.removeMember(parameter(request, 'member')));
    });
  }

  @All('members/:member/promote')
  promote(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.serve(request, reply, async (context, cluster) => {
      only(context, 'POST');
      sendJson(context, await cluster.promote(parameter(request, 'member')));
    });
  }

  @All('leader')
  leader(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.serve(request, reply, async (context, cluster) => {
      only(context, 'POST');
      const { to } = requestOf(LeaderMove, await readBody(context));
      await cluster.moveLeader(to);
      sendJson(context, await cluster.status());
    });
  }

  @All('check')
  check(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.serve(request, reply, async (context, cluster) => {
      onlyGet(context);
      sendJson(context, await cluster.check());
    });
  }

  @All('snapshot')
  snapshot(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.serve(request, reply, async (context, cluster) => {
      onlyGet(context);
      const chunks = await saveSnapshot(cluster.store);
      writeHead(context, 200, headersFor(context, 'application/octet-stream'));
      await pipeline(Readable.from(chunks), context.response as Writable);
    });
  }

  private serve(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (context: RequestContext, operations: ClusterOperations) => Promise<void> | void,
  ): Promise<void> {
    return serveWith(this.handler, request, reply, (context) => {
      const { cluster: operations } = this.opened;
      if (!operations) {
        throw new StatusError({
          code: 404,
          reason: 'NotFound',
          message: 'the objects are in an external store: use its own tools for its members',
        });
      }
      return work(context, operations);
    });
  }
}

function only({ request }: RequestContext, method: string): void {
  if (request.method !== method) throw methodNotSupported();
}

function parameter(request: FastifyRequest, name: string): string {
  return (request.params as Record<string, string>)[name] ?? '';
}

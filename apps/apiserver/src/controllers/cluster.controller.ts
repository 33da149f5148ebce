/** Operators' paths: status, members, leader, check and backup of the cluster of replicas. */

import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { All, Controller, Req, Res } from '@nestjs/common';
import { methodNotSupported, StatusError } from '@orch/apimachinery';
import { type Admitted, ApiHandler, headersFor, readBody, writeHead } from '@orch/apiserver';
import { saveSnapshot } from '@orch/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ClusterOperations } from '../cluster/cluster-operations.js';
import { LeaderMove, NewMember, requestOf } from '../cluster/requests.js';
import { answerWith, onlyGet, sendJson } from './answer.js';

/** The operations where there are replicas, nothing where the store is external. */
export class ClusterAccess {
  constructor(readonly operations: ClusterOperations | undefined) {}
}

@Controller('cluster')
export class ClusterController {
  constructor(
    private readonly api: ApiHandler,
    private readonly access: ClusterAccess,
  ) {}

  @All('status')
  status(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, async (admitted, cluster) => {
      onlyGet(admitted);
      sendJson(admitted, await cluster.status());
    });
  }

  @All('members')
  members(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, async (admitted, cluster) => {
      if (admitted.exchange.request.method === 'GET') return sendJson(admitted, cluster.members());
      only(admitted, 'POST');
      const wanted = requestOf(NewMember, await readBody(admitted.exchange));
      sendJson(admitted, { member: await cluster.addMember(wanted) });
    });
  }

  @All('members/:member')
  member(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, async (admitted, cluster) => {
      only(admitted, 'DELETE');
      sendJson(admitted, await cluster.removeMember(parameter(request, 'member')));
    });
  }

  @All('members/:member/promote')
  promote(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, async (admitted, cluster) => {
      only(admitted, 'POST');
      sendJson(admitted, await cluster.promote(parameter(request, 'member')));
    });
  }

  @All('leader')
  leader(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, async (admitted, cluster) => {
      only(admitted, 'POST');
      const { to } = requestOf(LeaderMove, await readBody(admitted.exchange));
      await cluster.moveLeader(to);
      sendJson(admitted, await cluster.status());
    });
  }

  @All('check')
  check(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, async (admitted, cluster) => {
      onlyGet(admitted);
      sendJson(admitted, await cluster.check());
    });
  }

  @All('snapshot')
  snapshot(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, async (admitted, cluster) => {
      onlyGet(admitted);
      const { exchange } = admitted;
      const chunks = await saveSnapshot(cluster.store);
      writeHead(exchange, 200, headersFor(exchange, 'application/octet-stream'));
      await pipeline(Readable.from(chunks), exchange.response as Writable);
    });
  }

  private answer(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (admitted: Admitted, operations: ClusterOperations) => Promise<void> | void,
  ): Promise<void> {
    return answerWith(this.api, request, reply, (admitted) => {
      const { operations } = this.access;
      if (!operations) {
        throw new StatusError({
          code: 404,
          reason: 'NotFound',
          message: 'the objects are in an external store: ask that for its members',
        });
      }
      return work(admitted, operations);
    });
  }
}

function only({ exchange }: Admitted, method: string): void {
  if (exchange.request.method !== method) throw methodNotSupported();
}

function parameter(request: FastifyRequest, name: string): string {
  return (request.params as Record<string, string>)[name] ?? '';
}

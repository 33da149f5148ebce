/**
 * Single requests to another replica, each a call of its own: status, and operators' requests.
 * Client and server side.
 */
import type { Clock } from '@orch/component';
import type { ReplicaStatus } from '../../replicated-log.js';
import type { FrameNetwork, RequestKind } from '../frame-network.js';
import {
  OperatorCallCodec,
  OperatorReplyCodec,
  ReplicaStatusCodec,
  StatusRequestCodec,
} from '../generated/wire.js';
import { operationTimeoutMaxMs } from '../limits.js';
import type { OperatorAnswer, OperatorRequest, TransportHandlers } from '../transport.js';
import { TransportError } from '../transport-error.js';
import { decodeFrame, encodeFrame } from '../wire/frame.js';
import {
  operatorAnswerFromWire,
  operatorAnswerToWire,
  operatorRequestFromWire,
  replicaStatusFromWire,
  replicaStatusToWire,
} from './wire-forms.js';

export class PeerRequests {
  constructor(
    private readonly network: FrameNetwork,
    private readonly clock: Clock,
  ) {}

  /** `clusterId` undefined: of whatever cluster it is. Rejects with TransportError. */
  async status(
    peerUrl: string,
    clusterId: string | undefined,
    deadlineMs: number,
  ): Promise<ReplicaStatus> {
    const frame = encodeFrame(StatusRequestCodec, {
      ...(clusterId !== undefined && { clusterId }),
    });
    const reply = await this.network.ask(peerUrl, 'status', frame, this.leftMs(deadlineMs));
    return replicaStatusFromWire(decodeFrame(ReplicaStatusCodec, reply));
  }

  /** Rejects with TransportError. */
  async operation(
    peerUrl: string,
    clusterId: string,
    request: OperatorRequest,
    deadlineMs: number,
  ): Promise<OperatorAnswer> {
    const timeoutMs = this.leftMs(deadlineMs);
    const frame = encodeFrame(OperatorCallCodec, { clusterId, request, timeoutMs });
    const reply = await this.network.ask(peerUrl, 'operate', frame, timeoutMs);
    return operatorAnswerFromWire(decodeFrame(OperatorReplyCodec, reply).answer);
  }

  /** Requests a replica of `ownClusterId`. Rejects for another cluster. */
  async answer(
    kind: RequestKind,
    frame: Buffer,
    ownClusterId: string,
    handlers: TransportHandlers,
  ): Promise<Buffer> {
    if (kind === 'status') {
      const { clusterId } = decodeFrame(StatusRequestCodec, frame);
      if (clusterId !== undefined) checkCluster(clusterId, ownClusterId);
      return encodeFrame(ReplicaStatusCodec, replicaStatusToWire(handlers.onStatusRequest()));
    }
    const { clusterId, request, timeoutMs } = decodeFrame(OperatorCallCodec, frame);
    checkCluster(clusterId, ownClusterId);
    const deadlineMs = this.clock.monotonicMs() + Math.min(timeoutMs, operationTimeoutMaxMs);
    const answer = await handlers.onOperatorRequest(operatorRequestFromWire(request), deadlineMs);
    return encodeFrame(OperatorReplyCodec, { answer: operatorAnswerToWire(answer) });
  }

  private leftMs(deadlineMs: number): number {
    return Math.max(0, Math.floor(deadlineMs - this.clock.monotonicMs()));
  }
}

function checkCluster(asked: string, own: string): void {
  if (asked === own) return;
  throw new TransportError('Refused', `this is cluster ${own}, not ${asked}`);
}

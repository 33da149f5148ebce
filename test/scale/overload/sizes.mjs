/** The sizes of the overload test. */
import { execFileSync } from 'node:child_process';

/** File descriptors that server and client need for other things. */
const reservedDescriptors = 300;
const wantedIdleConnections = 20_000;

/** A process needs one file descriptor for each connection. */
function idleConnections() {
  const limit = Number(execFileSync('bash', ['-c', 'ulimit -n'], { encoding: 'utf8' }));
  return Math.min(wantedIdleConnections, (limit || Infinity) - reservedDescriptors);
}

/** The test opens its connections from one address, faster than clients reconnect. */
const noHandshakeLimit = [
  '--max-tls-handshakes-per-second=0',
  '--max-tls-handshakes-per-second-per-address=0',
];

export const full = {
  flags: noHandshakeLimit,
  /** Connections for each seat of the priority level of ordinary users. */
  overloadFactor: 100,
  overloadMs: 10_000,
  idleConnections: idleConnections(),
  deafReaders: 300,
  deafWatchers: 300,
  objectBytes: 500_000,
  objectCount: 60,
  unfinishedBodies: 200,
  bodyBytes: 1_000_000,
  /** Time for the server to fill the buffers of slow clients. */
  settleMs: 1_000,
  /** Whether the time limits of the server are awaited. */
  waitsForLimits: true,
};

export const short = {
  // Few seats, so that few connections are an overload.
  flags: [...noHandshakeLimit, '--max-requests-inflight=20', '--max-mutating-requests-inflight=10'],
  overloadFactor: 120,
  overloadMs: 300,
  idleConnections: 50,
  deafReaders: 20,
  deafWatchers: 20,
  objectBytes: 500_000,
  objectCount: 20,
  unfinishedBodies: 20,
  bodyBytes: 1_000_000,
  settleMs: 200,
  waitsForLimits: false,
};

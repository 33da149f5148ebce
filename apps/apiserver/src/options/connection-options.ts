/** Flags that limit connections before their clients have authenticated. */
import { Flag } from '@orch/component';
import { IsInt, Min } from 'class-validator';

const burst = 'Bursts of eight times as many are possible. 0 is no limit.';

export class ConnectionOptions {
  @Flag({
    name: 'max-tls-handshakes-per-second',
    description: `TLS handshakes that start per second; further connections are closed before theirs. ${burst} Higher: a flood of connections takes more CPU time from established clients. Lower: reconnecting clients take longer after a failover.`,
    default: 500,
  })
  @IsInt()
  @Min(0)
  handshakesPerSecond!: number;

  @Flag({
    name: 'max-tls-handshakes-per-second-per-address',
    description: `as --max-tls-handshakes-per-second, for each client address (IPv6: each /64 network). ${burst} Higher: one client can use more of the total. Lower: clients behind one address, as that of a load balancer, take longer to reconnect.`,
    default: 250,
  })
  @IsInt()
  @Min(0)
  handshakesPerSecondPerAddress!: number;

  @Flag({
    name: 'max-unauthenticated-connections',
    description:
      'open connections on which no request has been authenticated; further connections are closed immediately. 0 is no limit. Higher: more memory and file descriptors for idle clients. Lower: new clients are refused earlier while others only connect.',
    default: 5_000,
  })
  @IsInt()
  @Min(0)
  unauthenticatedMax!: number;

  @Flag({
    name: 'max-unauthenticated-connections-per-address',
    description:
      'as --max-unauthenticated-connections, for each client address (IPv6: each /64 network). 0 is no limit. Higher: one client can use more of the total. Lower: clients behind one address are refused earlier.',
    default: 2_000,
  })
  @IsInt()
  @Min(0)
  unauthenticatedPerAddressMax!: number;
}

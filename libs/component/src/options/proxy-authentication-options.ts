/** Flags of the authenticating proxy. */
import { IsNotEmpty } from 'class-validator';
import { Flag } from './flag.js';

export class ProxyAuthenticationOptions {
  @Flag({
    name: 'requestheader-client-ca-file',
    description:
      'PEM authorities of authenticating proxies; a client with one of their certificates names the user in headers. Empty: headers never name a user. Must not be the authority of users, who could name any other user',
    default: '',
  })
  clientCaFile!: string;

  @Flag({
    name: 'requestheader-allowed-names',
    description:
      'common names of the certificates of proxies; empty: every certificate of --requestheader-client-ca-file',
    type: 'list',
  })
  allowedNames: string[] = [];

  @Flag({
    name: 'requestheader-username-headers',
    description: 'headers that name the user; the first with a value is used',
    default: 'x-remote-user',
    type: 'list',
  })
  @IsNotEmpty({ each: true })
  userHeaders!: string[];

  @Flag({
    name: 'requestheader-group-headers',
    description: 'headers that name the groups of the user, one for each occurrence',
    default: 'x-remote-group',
    type: 'list',
  })
  @IsNotEmpty({ each: true })
  groupHeaders!: string[];

  @Flag({
    name: 'requestheader-extra-headers-prefix',
    description: 'beginnings of headers with further attributes of the user',
    default: 'x-remote-extra-',
    type: 'list',
  })
  @IsNotEmpty({ each: true })
  extraPrefixes!: string[];
}

/** The request bodies of the cluster operations. */
import { badRequest } from '@orch/apimachinery';
import { IsOptional, IsString, Matches, validateSync } from 'class-validator';

export class NewMember {
  @Matches(/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/i, {
    message: 'name: must be letters, digits, dots and dashes, at most 63',
  })
  name!: string;

  @Matches(/^https:\/\/[^\s/?#]+:\d+$/, { message: 'peerUrl: must be https://host:port' })
  peerUrl!: string;

  @IsOptional()
  @Matches(/^https:\/\/[^\s?#]+$/, { message: 'clientUrl: must be an https URL' })
  clientUrl?: string;
}

export class LeaderMove {
  /** Id or name; the default is the most up-to-date voter. */
  @IsOptional()
  @IsString({ message: 'to: must be the id or the name of a member' })
  to?: string;
}

export class ReencryptionPage {
  /** Key of the last object of the page before; the default is the first page. */
  @IsOptional()
  @IsString({ message: 'after: must be the key of an object' })
  after?: string;
}

/** Throws a 400 that lists all errors. An empty body is an empty object. */
export function requestOf<Body extends object>(type: new () => Body, body: Buffer): Body {
  const request = new type();
  let sent: unknown;
  try {
    sent = body.length === 0 ? {} : JSON.parse(body.toString());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(`the body is not JSON: ${error.message}`);
  }
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    throw badRequest('the body must be a JSON object');
  }
  Object.assign(request, sent);
  const faults = validateSync(request, { whitelist: true, forbidNonWhitelisted: true });
  if (faults.length === 0) return request;
  throw badRequest(faults.flatMap(({ constraints = {} }) => Object.values(constraints)).join('; '));
}

/** Validates options for Windows nodes. */
import { type FieldError, type FieldPath, fieldError, subdomainName } from '@orch/apimachinery';
import type { WindowsSecurityContextOptions } from '@orch/types/core/v1';
import { invalidEach } from '../../shared/rules.js';

const credentialSpecBytesMax = 64 * 1024;
const domainLengthMax = 256;
const userLengthMax = 104;
const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsDomain =
  /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

export function validateWindowsOptions(
  options: WindowsSecurityContextOptions,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const name = options.gmsaCredentialSpecName;
  if (name !== undefined) {
    errors.push(
      ...invalidEach(fieldPath.child('gmsaCredentialSpecName'), name, subdomainName(name, false)),
    );
  }
  const spec = options.gmsaCredentialSpec;
  const specAt = fieldPath.child('gmsaCredentialSpec');
  if (spec === '') {
    errors.push(fieldError.invalid(specAt, spec, 'gmsaCredentialSpec cannot be an empty string'));
  } else if (spec !== undefined && Buffer.byteLength(spec) > credentialSpecBytesMax) {
    errors.push(
      fieldError.invalid(
        specAt,
        spec,
        `gmsaCredentialSpec size must be under ${credentialSpecBytesMax / 1024} KiB`,
      ),
    );
  }
  if (options.runAsUserName !== undefined) {
    errors.push(...validateUserName(options.runAsUserName, fieldPath.child('runAsUserName')));
  }
  return errors;
}

/** `[domain\]user`. */
function validateUserName(text: string, fieldPath: FieldPath): FieldError[] {
  const refuse = (detail: string) => [
    fieldError.invalid(fieldPath, text, `runAsUserName${detail}`),
  ];
  if (text === '') return refuse(' cannot be an empty string');
  if (/\p{Cc}/u.test(text)) return refuse(' cannot contain control characters');
  const parts = text.split('\\');
  if (parts.length > 2) return refuse(' cannot contain more than one backslash');
  const errors: FieldError[] = [];
  const [domain, user] = parts.length === 2 ? parts : [undefined, parts[0]];
  if (domain !== undefined) {
    if (domain.length >= domainLengthMax) {
      errors.push(...refuse("'s Domain length must be under 256 characters"));
    }
    if (!netBiosName.test(domain) && !dnsDomain.test(domain)) {
      errors.push(...refuse("'s Domain doesn't match the NetBios nor the DNS format"));
    }
  }
  errors.push(...validateUser(user ?? '', refuse));
  return errors;
}

function validateUser(user: string, refuse: (detail: string) => FieldError[]): FieldError[] {
  const errors: FieldError[] = [];
  if (user === '') errors.push(...refuse("'s User cannot be empty"));
  else if (user.length > userLengthMax) {
    errors.push(...refuse("'s User length must not be longer than 104 characters"));
  }
  if (user !== '' && /^[. ]+$/.test(user)) {
    errors.push(...refuse("'s User cannot contain only periods or spaces"));
  }
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    errors.push(...refuse('\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]'));
  }
  return errors;
}

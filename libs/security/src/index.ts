/** Authentication, authorization, the tokens that the cluster signs, and encryption at rest. */

export { AuthenticationMetrics } from './authentication/authentication-metrics.js';
export type { AuthenticationRequest } from './authentication/authentication-request.js';
export type { Authenticator } from './authentication/authenticator.js';
export {
  type Authentication,
  type AuthenticationDependencies,
  createAuthentication,
} from './authentication/authenticators.js';
export type { PasswordUser } from './authentication/basic-auth.js';
export {
  AuthorityError,
  CertificateAuthorities,
} from './authentication/certificate-authorities.js';
export { ComponentAuthentication } from './authentication/component-authentication.js';
export type { BoundObject, ObjectLookup } from './authentication/object-lookup.js';
export { oidcAuthenticator } from './authentication/oidc/oidc-authenticator.js';
export { OidcProvider } from './authentication/oidc/oidc-provider.js';
export type { RequestHeaderOptions } from './authentication/request-headers.js';
export { type TokenAuthenticator, TokenError } from './authentication/token-authenticator.js';
export { readPasswordFile, readTokenFile, TokenFileError } from './authentication/token-file.js';
export {
  anonymousUser,
  authenticated,
  privilegedGroup,
  serviceAccountGroups,
  type User,
} from './authentication/user.js';
export { AbacFileError, readAbacFile } from './authorization/abac/abac-file.js';
export { AbacPolicies } from './authorization/abac/abac-policies.js';
export type { Attributes, RequestAttributes } from './authorization/attributes.js';
export {
  AuthorizationError,
  type Authorizer,
  type Decision,
  enforce,
  noAuthorizer,
  refusingUnnamed,
} from './authorization/authorizer.js';
export {
  type Authorization,
  type AuthorizationMode,
  authorizationModes,
  createAuthorization,
} from './authorization/authorizers.js';
export { type Impersonation, impersonationOf } from './authorization/impersonation.js';
export { nodeNameOf } from './authorization/node/node-authorizer.js';
export { NodeGraph } from './authorization/node/node-graph.js';
export { podReferences } from './authorization/node/references.js';
export { type HeldRules, type MissingRole, RbacPolicy } from './authorization/rbac/rbac-policy.js';
export type { RuleLister, Rules } from './authorization/rules.js';
export type { WebhookAuthorizerOptions } from './authorization/webhook-authorizer.js';
export { DecryptionError } from './encryption/cipher.js';
export {
  EncryptionConfiguration,
  EncryptionConfigurationError,
  parseEncryptionConfiguration,
} from './encryption/encryption-configuration.js';
export { EncryptionFile } from './encryption/encryption-file.js';
export { EncryptionMetrics } from './encryption/encryption-metrics.js';
export { KmsError } from './encryption/kms-error.js';
export { noMatchingPrefix, type ResourceEncryption } from './encryption/resource-encryption.js';
export { isEncrypted } from './encryption/stored-prefix.js';
export { authoritiesPollMs, reviewErrorLengthMax } from './limits.js';
export { IssuerDocuments } from './tokens/issuer-documents.js';
export { createSigningKeyPem, serviceAccountKeys } from './tokens/service-account-keys.js';
export {
  accountUserName,
  type ObjectIdentity,
  ServiceAccountTokens,
  type TokenSubject,
} from './tokens/service-account-tokens.js';
export type { ConnectionPool } from './webhooks/connection-pool.js';
export { ConnectionClosedError, ResponseSizeError } from './webhooks/exchange.js';
export { type HttpPost, type HttpPostResponse, post } from './webhooks/http-post.js';
export {
  authorizationOf,
  checkCredentials,
  connectionPoolOf,
} from './webhooks/kubeconfig-connections.js';
export { failureMessage, isSuccess } from './webhooks/response-failure.js';
export {
  type PostReview,
  ReviewError,
  type ReviewVersion,
  reviewVersions,
} from './webhooks/review.js';
export type { ServiceResolver } from './webhooks/service-endpoint.js';
export {
  type WebhookAddress,
  type WebhookCall,
  WebhookClient,
  WebhookError,
} from './webhooks/webhook-client.js';

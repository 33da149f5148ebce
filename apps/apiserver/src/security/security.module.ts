/**
 * Authentication and authorization of requests, and the tokens of service accounts. The lists of
 * authenticators and authorizers are in `libs/security`; only this module uses them.
 */
import { Module, type OnModuleInit } from '@nestjs/common';
import { nodeRules } from '@orch/api';
import { FollowedNodeGraph, FollowedRoles, MeasuredStore } from '@orch/apiserver';
import { Metrics, systemClock } from '@orch/component';
import { objectLookup, ResourceTable, systemSecretLookup } from '@orch/registry';
import {
  type Authentication,
  AuthenticationMetrics,
  type Authorization,
  createAuthentication,
  createAuthorization,
  IssuerDocuments,
  RbacPolicy,
  ServiceAccountTokens,
} from '@orch/security';
import { ApiServerContext } from '../context/api-server-context.js';
import { advertiseAddress } from '../context/serving.js';
import type { AuthenticationOptions } from '../options/authentication-options.js';
import { StoreModule } from '../store/store.module.js';
import { createOidc } from './create-oidc.js';
import { openAuthorizationWebhook, openTokenWebhook } from './review-webhooks.js';
import { serviceAccountTokens } from './service-account-signing.js';

/** The authenticator and the authorizer of the server. */
export class Security {
  constructor(
    readonly authentication: Authentication,
    readonly authorization: Authorization,
  ) {}
}

function authenticationFlags({ anonymous, serviceAccounts }: AuthenticationOptions) {
  return { anonymous, serviceAccountLookup: serviceAccounts.lookup };
}

@Module({
  imports: [StoreModule],
  providers: [
    {
      provide: ServiceAccountTokens,
      inject: [ApiServerContext],
      useFactory: ({ options }: ApiServerContext) => serviceAccountTokens(options),
    },
    { provide: RbacPolicy, useFactory: () => new RbacPolicy() },
    {
      provide: FollowedRoles,
      inject: [ApiServerContext, MeasuredStore, ResourceTable, RbacPolicy],
      useFactory: (
        { logger }: ApiServerContext,
        store: MeasuredStore,
        table: ResourceTable,
        policy: RbacPolicy,
      ) => new FollowedRoles({ store, table, policy, clock: systemClock, logger }),
    },
    {
      provide: FollowedNodeGraph,
      inject: [ApiServerContext, MeasuredStore, ResourceTable, Metrics],
      useFactory: (
        { logger }: ApiServerContext,
        store: MeasuredStore,
        table: ResourceTable,
        metrics: Metrics,
      ) => new FollowedNodeGraph({ store, table, logger, metrics, clock: systemClock }),
    },
    {
      provide: Security,
      inject: [
        ...[ApiServerContext, ServiceAccountTokens, MeasuredStore, ResourceTable, Metrics],
        ...[RbacPolicy, FollowedNodeGraph],
      ],
      useFactory: async (
        context: ApiServerContext,
        tokens: ServiceAccountTokens,
        store: MeasuredStore,
        table: ResourceTable,
        metrics: Metrics,
        policy: RbacPolicy,
        nodes: FollowedNodeGraph,
      ) => {
        const { settings } = context;
        return new Security(
          createAuthentication({
            ...context.settings.authentication,
            ...authenticationFlags(context.options.authentication),
            serviceAccountTokens: tokens,
            oidc: await createOidc(context, tokens.apiAudiences),
            exists: objectLookup(store, table),
            readBootstrapSecret: context.options.authentication.bootstrapTokens
              ? systemSecretLookup(store, table)
              : undefined,
            tokenWebhook: await openTokenWebhook(context),
            clock: systemClock,
            metrics: new AuthenticationMetrics(metrics),
          }),
          createAuthorization(context.options.authorization.modes, {
            policy,
            abacPolicies: settings.abacPolicies,
            node: { graph: () => nodes.current(), rules: nodeRules() },
            webhook: await openAuthorizationWebhook(context),
          }),
        );
      },
    },
    {
      provide: IssuerDocuments,
      inject: [ApiServerContext, ServiceAccountTokens],
      useFactory: ({ options }: ApiServerContext, tokens: ServiceAccountTokens) =>
        new IssuerDocuments({
          tokens,
          keySetUri: options.authentication.serviceAccounts.keySetUri,
          host: advertiseAddress(options),
        }),
    },
  ],
  exports: [
    ...[ServiceAccountTokens, Security, IssuerDocuments, RbacPolicy, FollowedRoles],
    FollowedNodeGraph,
  ],
})
export class SecurityModule implements OnModuleInit {
  constructor(
    private readonly context: ApiServerContext,
    private readonly roles: FollowedRoles,
    private readonly nodes: FollowedNodeGraph,
  ) {}

  onModuleInit(): void {
    const { context, roles, nodes } = this;
    if (context.options.authentication.passwordFile !== '') {
      context.logger.warn(
        {},
        'basic authentication is on: passwords never expire; use tokens or certificates instead',
      );
    }
    roles.start();
    context.lifecycle.onStop('roles', () => roles.stop());
    if (!context.options.authorization.modes.includes('Node')) return;
    nodes.start();
    context.lifecycle.onStop('node graph', () => nodes.stop());
  }
}

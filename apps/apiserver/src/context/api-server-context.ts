/**
 * What every module receives: flags, gates, log and lifecycle of the process, and the settings that
 * are validated before anything is written.
 */
import {
  admissionPlugins,
  configurePlugins,
  type PluginDeclaration,
  readAdmissionConfiguration,
  selectPlugins,
} from '@orch/admission';
import {
  type ClusterOptions,
  definitions,
  metricsDefinitions,
  type ResourceDefinition,
} from '@orch/api';
import type { RequestLimits } from '@orch/apiserver';
import { type KeyPairPem, Metrics } from '@orch/component';
import { RuntimeConfig } from '@orch/registry';
import type { AbacPolicies, EncryptionFile } from '@orch/security';
import type { AdmissionOptions } from '../options/admission-options.js';
import { checkWebhookMode } from '../options/authorization-options.js';
import { abacPolicies } from './abac-policies.js';
import { type AuthenticationFiles, readAuthenticationFiles } from './authentication-files.js';
import { clusterSettings } from './cluster-settings.js';
import { checkDataDirectory, claimDataDirectory } from './data-directory.js';
import { type Egress, readEgress } from './egress.js';
import { openEncryptionFile } from './open-encryption.js';
import type { ProcessContext } from './process-context.js';
import { proxyCertificate } from './proxy-certificate.js';
import { requestLimits } from './request-gate.js';
import { checkAddress } from './serving.js';

export interface ValidatedOptions {
  readonly clusterSettings: ClusterOptions;
  readonly requestLimits: RequestLimits;
  /** The built-in kinds. */
  readonly definitions: readonly ResourceDefinition[];
  readonly runtimeConfig: RuntimeConfig;
  /** The plugins that run, in this order. */
  readonly admissionPlugins: readonly PluginDeclaration[];
  readonly authentication: AuthenticationFiles;
  readonly abacPolicies: AbacPolicies;
  /** The certificate for aggregated API servers; undefined: none. */
  readonly proxyCertificate: KeyPairPem | undefined;
  readonly egress: Egress;
  /** The encryption at rest; undefined: none. */
  readonly encryption: EncryptionFile | undefined;
}

export class ApiServerContext implements ProcessContext {
  readonly options: ProcessContext['options'];
  readonly features: ProcessContext['features'];
  readonly logger: ProcessContext['logger'];
  readonly lifecycle: ProcessContext['lifecycle'];

  constructor(
    process: ProcessContext,
    readonly settings: ValidatedOptions,
    readonly metrics: Metrics,
  ) {
    this.options = process.options;
    this.features = process.features;
    this.logger = process.logger;
    this.lifecycle = process.lifecycle;
  }
}

/**
 * Validates flags, data directory and address, then claims the data directory. Rejects with
 * FatalError or ValueError; nothing has been written if a flag is invalid.
 */
export async function validatedContext(process: ProcessContext): Promise<ApiServerContext> {
  const { options, features, logger } = process;
  const served = options.aggregation.enableResourceMetrics
    ? [...definitions, ...metricsDefinitions]
    : definitions;
  const settings = {
    clusterSettings: clusterSettings(options, features),
    requestLimits: requestLimits(process),
    definitions: served,
    runtimeConfig: new RuntimeConfig(options.runtimeConfig, served),
    admissionPlugins: selectedPlugins(options.admission),
    abacPolicies: abacPolicies(options.authorization),
    proxyCertificate: proxyCertificate(options.aggregation),
  };
  checkDataDirectory(options.dataDir);
  checkWebhookMode(options.authorization);
  const authentication = readAuthenticationFiles(options.authentication);
  const metrics = new Metrics(options.common.shownMetricsRelease);
  const egress = readEgress(options.egressSelectorConfigFile, metrics);
  const { providerConfigFile } = options.encryption;
  const encryption = await openEncryptionFile(providerConfigFile, logger, metrics);
  await checkAddress(options.bindAddress, options.securePort);
  claimDataDirectory(options.dataDir);
  return new ApiServerContext(
    process,
    { ...settings, egress, authentication, encryption },
    metrics,
  );
}

function selectedPlugins({ enabled, disabled, configurationFile }: AdmissionOptions) {
  const documents =
    configurationFile === '' ? new Map() : readAdmissionConfiguration(configurationFile);
  return selectPlugins(configurePlugins(admissionPlugins, documents), { enabled, disabled });
}

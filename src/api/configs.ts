import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import { z } from 'zod';
import { checksIn, duplicatesIn, lookupsIn } from './schemas/reviewSchemas.ts';
import {
  type ChannelSettings,
  configMode,
  type ConfigVersion,
  savedRulesOf,
  savedSettingsOf,
} from '../../domain/savedConfig.ts';
import { checks, lookups } from '../../domain/rules/checks.ts';
import {
  instantOut,
  orAbsent,
  pageFacts,
  pageOf,
  listQuery,
  defaultTagsIn,
  plainText,
  tagsOut,
  tenantIdText,
  checkKnown,
  whoOut,
} from './schemas/basics.ts';
import { extractModeIn, modelChannelIn, savedSettingsIn, savedSettingsOut } from './schemas/workSchemas.ts';
import { configHistory, type LogToRead } from '../queries/log.ts';
import { withTexts } from '../writer/vault.ts';
import { routesOver } from '../server/routes.ts';
import { type DeploymentsDeps, GATE_PROBLEMS, passGate } from './deployments.ts';
import { gateIn } from './schemas/pipelineSchemas.ts';
import { sightOf } from './training.ts';
import { problem, workFailure } from '../server/problems.ts';
import { type DraftDeps, configDraft, type SavedConfigs } from '../commands/savedConfigs.ts';
import { configsOfTenant } from '../../projections/savedConfigs.ts';

/** What these routes need. */
export interface ConfigsDeps extends DraftDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'configsOfTenant'>;
  readonly reads: ReadYourWrites;
  /** The log itself, for auditors. */
  readonly log: LogToRead;
  readonly savedConfigs: SavedConfigs;
  readonly heldBack: DeploymentsDeps['heldBack'];
}

const { get, post, remove } = routesOver<ConfigsDeps>();

const channelAnswer = (settings: ChannelSettings | null) => {
  if (settings === null) return null;
  const { secret_id, ...shown } = settings;
  return { ...shown, has_api_key: secret_id !== null };
};

/** `ConfigResponse`: never a key. */
const configAnswer = ({ llm, ocr, rules, ...version }: ConfigVersion) => ({
  ...version,
  ...savedSettingsOf(version),
  ...savedRulesOf({ rules }),
  tags: version.tags ?? {},
  llm: channelAnswer(llm),
  ocr: channelAnswer(ocr),
});

/** Versions as they are answered. Their rules lie beside the log as one text, of which the answer has a part. */
const configAnswers = async ({ log }: Pick<ConfigsDeps, 'log'>, versions: readonly ConfigVersion[]) => {
  const rules = await withTexts(
    log,
    versions.map((version) => version.rules ?? null),
  );
  return versions.map((version, index) => configAnswer({ ...version, rules: rules[index] ?? null }));
};

const configUpsertRequest = z
  .strictObject({
    config_id: orAbsent(plainText(1, 200)).meta({
      description: 'ID of the config that gets a new version.',
    }),
    tenant_id: tenantIdText,
    name: orAbsent(plainText(1, 200).nullable()),
    schema: z
      .unknown()
      .optional()
      .meta({ description: 'JSON Schema with `type: "object"` and `properties`.' }),
    mode: orAbsent(extractModeIn.nullable()),
    artifact_id: orAbsent(plainText(1, 200).nullable()),
    ...savedSettingsIn,
    checks: checksIn.nullish(),
    lookups: lookupsIn.nullish(),
    duplicates: duplicatesIn.nullish(),
    tags: defaultTagsIn.optional(),
    llm: modelChannelIn.nullish(),
    ocr: modelChannelIn.nullish(),
    gate: gateIn.nullish(),
  })
  .meta({ id: 'ConfigUpsertRequest' });

const savedChannel = z
  .strictObject({
    provider_model: z.string().nullable(),
    api_base: z.string().nullable(),
    max_tokens: z.int().nullable(),
    temperature: z.number().nullable(),
    num_retries: z.int().nullable(),
    has_api_key: z.boolean(),
    api_key_last4: z.string().nullable(),
  })
  .meta({ id: 'SavedChannel' });

const configResponse = z
  .strictObject({
    config_id: z.string(),
    version: z.int(),
    tenant_id: z.string(),
    name: z.string().nullable(),
    schema: z.record(z.string(), z.unknown()).nullable(),
    mode: configMode.nullable(),
    artifact_id: z.string().nullable(),
    ...savedSettingsOut,
    checks: checks.nullable(),
    lookups: lookups.nullable(),
    duplicates: z
      .strictObject({
        values: z.array(z.string()).meta({ description: 'JSON Pointers; empty: files alone are compared.' }),
      })
      .nullable(),
    tags: tagsOut,
    llm: savedChannel.nullable(),
    ocr: savedChannel.nullable(),
    published_at: instantOut,
    published_by: whoOut,
  })
  .meta({ id: 'ConfigResponse' });

const configsQuery = z.object({ tenant_id: tenantIdText, ...listQuery(configsOfTenant) });

const configList = pageOf(configResponse, 'ConfigList');

const configParams = z.object({ config_id: plainText(1, 200) });

const configVersions = z
  .strictObject({
    config_id: z.string(),
    tenant_id: z.string(),
    revoked_at: instantOut.nullable(),
    versions: z.array(configResponse),
  })
  .meta({ id: 'ConfigVersions' });

export const getConfig = get(
  '/v1/configs/{config_id}',
  {
    summary: 'A saved config with all its versions, newest first',
    description: 'The first version is the one in use, unless `revoked_at` is set. Keys are never shown.',
    access: 'any',
    params: configParams,
    reply: { status: 200, schema: configVersions },
    problems: ['config_not_found'],
  },
  async (request, { log }) => {
    const { config_id } = request.params;
    const found = await configHistory(log, config_id);
    const versions = (await configAnswers({ log }, found?.versions ?? [])).reverse();
    const [latest] = versions;
    const sight = sightOf(request);
    if (found === undefined || latest === undefined || (sight !== null && sight !== latest.tenant_id))
      throw problem('config_not_found', 'There is no such saved config.');
    return { config_id, tenant_id: latest.tenant_id, revoked_at: found.revoked_at, versions };
  },
);

export const listConfigs = get(
  '/v1/configs',
  {
    summary: 'The saved configs of a tenant, last published first',
    description: 'The latest version of each config that was not revoked; keys are never shown.',
    access: 'any',
    tenant: 'query',
    query: configsQuery,
    reply: { status: 200, schema: configList },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ query }, deps) => {
    const { tenant_id } = query;
    const found = await deps.queries.configsOfTenant(query);
    await checkKnown(deps, tenant_id, { isEmpty: found.total === 0 });
    return { items: await configAnswers(deps, found.items), ...pageFacts(query, found) };
  },
);

type Draft = Extract<Awaited<ReturnType<typeof configDraft>>, { readonly kind: 'draft' }>['draft'];

/** A draft as it will be: a channel that it does not name stays as the version before has it. */
const publishedSubject = async ({ log }: ConfigsDeps, draft: Draft) => {
  const isKept = draft.llm === undefined || draft.ocr === undefined;
  const before = isKept ? (await configHistory(log, draft.config_id))?.versions.at(-1) : undefined;
  const { llm = before?.llm, ocr = before?.ocr } = draft;
  return { ...draft, llm: llm ?? {}, ocr: ocr ?? {} };
};

export const publishConfig = post(
  '/v1/configs',
  {
    summary: 'Publish a saved config, or a new version of one',
    description:
      'A version is complete, not a patch, except for its models: a channel that is left out stays as it is, and ' +
      '`null` removes it. A channel without `api_key` keeps its stored key as long as its `provider_model` and ' +
      '`api_base` stay the same. Keys are stored encrypted and never shown.',
    access: 'admin',
    tenantSessions: true,
    tenant: 'body',
    body: configUpsertRequest,
    reply: { status: 200, schema: configResponse },
    problems: [
      'config_not_found',
      'artifact_not_found',
      'table_not_found',
      'invalid_schema',
      'schema_beyond_limits',
      'unknown_model_provider',
      'unsafe_api_base',
      'field_encryption_not_configured',
      'storage_error',
      'busy',
      ...GATE_PROBLEMS,
      'missing_schema',
    ],
  },
  async (request, deps) => {
    const { meta, doneOr } = request;
    const { gate, ...body } = request.body;
    const checked = await configDraft(deps, body);
    if (checked.kind === 'problem') throw workFailure(checked);
    const subject = await publishedSubject(deps, checked.draft);
    await passGate(deps, request, { tenant_id: body.tenant_id, subject, gate });
    const outcome = await deps.savedConfigs.publish(checked.draft, meta);
    if (outcome.kind === 'problem') throw workFailure(outcome);
    const { state, position } = doneOr(outcome, {
      config_not_found: 'There is no such saved config of this tenant.',
    });
    deps.reads.note(body.tenant_id, position);
    if (state.latest === null) throw new Error('a config that was published has no version');
    const [answer] = await configAnswers(deps, [state.latest]);
    if (answer === undefined) throw new Error('a config that was published has no version');
    return answer;
  },
);

const NO_CONFIG = 'There is no such saved config.';

const tenantOfConfig = async ({ log }: ConfigsDeps, configId: string): Promise<string | undefined> =>
  (await configHistory(log, configId))?.versions.at(-1)?.tenant_id;

export const revokeConfig = remove(
  '/v1/configs/{config_id}',
  {
    summary: 'Revoke a saved config with all its versions',
    description: 'This is final: its keys are removed, and requests that name it get 404.',
    access: 'admin',
    tenantSessions: true,
    params: z.object({ config_id: plainText(1, 200) }),
    reply: { status: 204 },
    problems: ['config_not_found', 'storage_error', 'busy'],
  },
  async (request, deps) => {
    const { params, meta, doneOr } = request;
    const sight = sightOf(request);
    const isTheirs = sight === null || (await tenantOfConfig(deps, params.config_id)) === sight;
    if (!isTheirs) throw problem('config_not_found', NO_CONFIG);
    const outcome = await deps.savedConfigs.revoke(params.config_id, meta);
    const { state, position } = doneOr(outcome, { config_not_found: NO_CONFIG });
    if (state.latest !== null) deps.reads.note(state.latest.tenant_id, position);
    return undefined;
  },
);

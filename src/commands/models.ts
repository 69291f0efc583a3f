import {
  isOcrOnly,
  modelNamed,
  nameOfModel,
  needsBase,
  type ModelRef,
  type ModelAccess,
  type ModelProviders,
} from '@quire/engine/ports/modelProvider';
import type { ModelCall, ModelWork } from '@quire/engine/ports/modelWork';
import type { BillingType } from '../../domain/account/messages.ts';
import type { PlatformModels } from '../platformModels.ts';
import { misfit, workProblem, type WorkProblem } from './workProblem.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';

/** What is wrong with a member of a request. */
export interface ChannelIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/** A caller's own model of one channel; empty strings were dropped before. */
export interface ModelChannel {
  readonly provider_model?: string | undefined;
  readonly api_key?: string | undefined;
  readonly api_base?: string | undefined;
  readonly max_tokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly num_retries?: number | undefined;
  /** Members that are not what they should be: told where the channel runs with a key, else ignored. */
  readonly issues?: readonly ChannelIssue[] | undefined;
  /** Why the key of a saved config cannot go where the request says: told where the channel runs. */
  readonly conflict?: readonly ChannelIssue[] | undefined;
}

/**
 * Which models do the work, and at which rates: these are known before it is done, and stay. The accesses hold secrets:
 * they are written nowhere.
 */
export interface ChosenModels {
  readonly kind: 'models';
  readonly billing_type: BillingType;
  readonly model: string;
  readonly ocr_model: string | null;
  /** null: the local engine. */
  readonly llm: ModelAccess | null;
  /** null: local recognition, or none. */
  readonly ocr: ModelAccess | null;
  /** The channels that the caller gave a key for, whether they run or not. */
  readonly own: readonly ChannelName[];
  /** The channel whose key an own `ocr` is asked with. */
  readonly ocrKey: ChannelName;
}

export type ChannelName = 'llm' | 'ocr';

/** The name of a channel's member in the request, to show to the caller. */
export type ChannelPaths = (channel: ChannelName, member: string) => readonly string[];

/** Attempts after the first where the caller names none. */
export const DEFAULT_RETRIES = 2;

export const formPaths: ChannelPaths = (channel, member) => ['body', `${channel}_${member}`];

const misfits = (issues: readonly ChannelIssue[]): WorkProblem => ({
  kind: 'problem',
  code: 'validation_error',
  detail: 'The own model cannot be used as it is named.',
  issues,
});

interface Naming {
  readonly channel: ChannelName;
  /** Of a model that the channel takes over when it names none. */
  readonly fallback: string;
  readonly paths: ChannelPaths;
}

/** The model that a key is for, or why there is none. */
const refOf = (
  { provider_model }: ModelChannel,
  { channel, fallback, paths }: Naming,
): ModelRef | WorkProblem => {
  const name = provider_model ?? fallback;
  const ref = modelNamed(name);
  if (ref === undefined)
    return workProblem(
      'unknown_model_provider',
      `There is no model "${name.slice(0, 120)}" here. Name it as <provider>/<model>, with a ` +
        'provider like openai, azure, anthropic, google, mistral or openai_compatible.',
    );
  const where = paths(channel, 'api_key').slice(1).join('.');
  if (ref.provider === 'local')
    return misfit(
      paths(channel, 'api_key'),
      `${where} was given, but ${name} is local and takes no key. Name a model beside it, or leave the key out.`,
    );
  if (channel === 'llm' && isOcrOnly(ref))
    return misfit(
      paths(channel, 'provider_model'),
      `${name} only reads pages. Use it for the OCR channel, and a language model for extraction.`,
    );
  return ref;
};

/** Own-model credentials of a channel: undefined without a key, for then the rest is ignored. */
const ownAccess = (own: ModelChannel, naming: Naming): ModelAccess | WorkProblem | undefined => {
  const { issues = [], conflict = [] } = own;
  if (conflict.length > 0) return misfits(conflict);
  if (own.api_key === undefined) return undefined;
  if (issues.length > 0) return misfits(issues);
  const ref = refOf(own, naming);
  if ('kind' in ref) return ref;
  if (needsBase(ref.provider) && own.api_base === undefined)
    return misfit(
      naming.paths(naming.channel, 'api_base'),
      `A model of ${ref.provider} needs the address of its server: send api_base.`,
    );
  return {
    ref,
    apiKey: own.api_key,
    apiBase: own.api_base,
    owner: 'caller',
    maxTokens: own.max_tokens,
    temperature: own.temperature,
    retries: own.num_retries ?? DEFAULT_RETRIES,
  };
};

/** Why a channel could not be used as it is; undefined: it can, or nothing but its use will tell. */
export const checkChannel = (
  channel: ModelChannel,
  name: ChannelName,
  paths: ChannelPaths,
): WorkProblem | undefined => {
  if (channel.provider_model === undefined)
    return channel.api_key === undefined
      ? undefined
      : misfit(
          paths(name, 'provider_model'),
          'A key that is stored belongs to a model: name its provider_model.',
        );
  // Only the presence of the key counts: a model is checked without it, too.
  const checked = ownAccess(
    { ...channel, api_key: channel.api_key ?? '' },
    { channel: name, fallback: '', paths },
  );
  return isProblem(checked) ? checked : undefined;
};

const isProblem = (value: ModelAccess | WorkProblem | undefined): value is WorkProblem =>
  value !== undefined && 'kind' in value;

/** What an OCR channel with its own key takes over from the extraction model, if both name one. */
const withInherited = (ocr: ModelChannel, llm: ModelAccess | undefined): ModelChannel => {
  if (ocr.provider_model !== undefined || llm === undefined) return ocr;
  return { ...ocr, provider_model: nameOfModel(llm.ref), api_base: ocr.api_base ?? llm.apiBase };
};

const chosenLlm = (own: ModelAccess | undefined, runs: boolean, { extraction }: PlatformModels) => ({
  model: own === undefined ? extraction.name : nameOfModel(own.ref),
  llm: runs ? (own ?? extraction.access) : null,
});

const chosenOcr = (own: ModelAccess | undefined, runs: boolean, { ocr }: PlatformModels) =>
  runs
    ? { ocr_model: own === undefined ? ocr.name : nameOfModel(own.ref), ocr: own ?? ocr.access }
    : { ocr_model: null, ocr: null };

/** A request's settings of both channels, and which of them run. */
interface Channels {
  readonly llm: ModelChannel;
  readonly ocr: ModelChannel;
  readonly runs: { readonly llm: boolean; readonly ocr: boolean };
  readonly paths?: ChannelPaths | undefined;
}

const ownKeysOf = ({ llm, ocr }: Channels): readonly ChannelName[] => [
  ...(llm.api_key === undefined ? [] : (['llm'] as const)),
  ...(ocr.api_key === undefined ? [] : (['ocr'] as const)),
];

/**
 * Chooses by the BYOK rules: a key of a channel that runs switches to own-key rates; without a key the
 * other members are ignored; a key of a channel that does not run is ignored. An OCR channel without a key
 * inherits the caller's extraction model; one that names no model falls back to it.
 */
export const chooseModels = (channels: Channels, platform: PlatformModels): ChosenModels | WorkProblem => {
  const { runs, paths = formPaths } = channels;
  const llm = runs.llm
    ? ownAccess(channels.llm, { channel: 'llm', fallback: platform.extraction.name, paths })
    : undefined;
  if (isProblem(llm)) return llm;
  const own = runs.ocr
    ? ownAccess(withInherited(channels.ocr, llm), { channel: 'ocr', fallback: platform.ocr.name, paths })
    : undefined;
  if (isProblem(own)) return own;
  return {
    kind: 'models',
    billing_type: llm === undefined && own === undefined ? 'full_service' : 'byok',
    ...chosenLlm(llm, runs.llm, platform),
    ...chosenOcr(own ?? llm, runs.ocr, platform),
    own: ownKeysOf(channels),
    ocrKey: own === undefined ? 'llm' : 'ocr',
  };
};

/** What work needs in which models take part. */
export interface ModelDeps {
  readonly modelWork: ModelWork;
  readonly checkBase: ModelProviders['checkBase'];
}

/** Addresses that callers named are checked before anything is done for them, or held. */
const checkBases = async (
  { checkBase }: Pick<ModelDeps, 'checkBase'>,
  { llm, ocr }: ChosenModels,
): Promise<WorkProblem | undefined> => {
  const bases = [llm, ocr].flatMap((access) => (access?.owner === 'caller' ? [access.apiBase] : []));
  for (const base of new Set(bases)) {
    if (base === undefined) continue;
    const checked = await checkBase(base);
    if (checked.kind !== 'ok') return workProblem('unsafe_api_base', checked.detail);
  }
  return undefined;
};

/** The choice for a file with page images, and for one without, where the OCR channel never runs. */
export interface ModelsByFormat {
  readonly paged: ChosenModels | WorkProblem;
  readonly unpaged: ChosenModels | WorkProblem;
}

interface ChoiceDeps extends Pick<ModelDeps, 'checkBase'> {
  readonly platformModels: PlatformModels;
}

/** Chooses for either format: which one a file has is known only when it has been opened. */
export const modelsByFormat = async (
  deps: ChoiceDeps,
  channels: Channels,
  fit: (models: ChosenModels) => ChosenModels | WorkProblem = (models) => models,
): Promise<ModelsByFormat> => {
  const choose = async (ocr: boolean): Promise<ChosenModels | WorkProblem> => {
    const chosen = chooseModels({ ...channels, runs: { ...channels.runs, ocr } }, deps.platformModels);
    const fitting = chosen.kind === 'problem' ? chosen : fit(chosen);
    return fitting.kind === 'problem' ? fitting : ((await checkBases(deps, fitting)) ?? fitting);
  };
  const paged = await choose(channels.runs.ocr);
  return { paged, unpaged: channels.runs.ocr ? await choose(false) : paged };
};

/** The channel whose own key a call was made with; undefined: the platform paid for it. */
const keyOf = ({ ocrKey }: ChosenModels, { owner, step }: ModelCall): ChannelName | undefined => {
  if (owner !== 'caller') return undefined;
  return step === 'ocr' ? ocrKey : 'llm';
};

const WHY: Readonly<Record<ChannelName, string>> = {
  llm: 'no extraction model was asked',
  ocr: 'nothing was there for an OCR model to read',
};

/** The rates of work, and what its callers' keys were used for. */
export interface OwnKeyUse {
  readonly billing_type: BillingType;
  /** `own_key_not_used` for each key that was given and paid for nothing. */
  readonly warnings: readonly JsonObject[];
}

/** Says of the keys that were given which were not used. The rates are those that the work was held at. */
export const ownKeyUse = (models: ChosenModels, calls: readonly ModelCall[]): OwnKeyUse => {
  const used = new Set(calls.map((call) => keyOf(models, call)));
  const { billing_type } = models;
  const unused = models.own.filter((channel) => !used.has(channel));
  return {
    billing_type,
    warnings: unused.map((channel) => ({
      code: 'own_key_not_used',
      message: `${channel}_api_key was not used: ${WHY[channel]} for this file in this mode.${
        billing_type === 'full_service' ? ' The work is billed as full service.' : ''
      }`,
    })),
  };
};

import type { BillingType } from '../../domain/account/words.ts';
import { workProblem, type WorkProblem } from './workProblem.ts';

/** A caller's own model of one channel; empty strings were dropped before. */
export interface ModelChannel {
  readonly provider_model?: string | undefined;
  readonly api_key?: string | undefined;
}

/** Which models do the work, and at which rates. */
export interface ChosenModels {
  readonly kind: 'models';
  readonly billing_type: BillingType;
  readonly model: string;
  readonly ocr_model: string | null;
}

const LOCAL = 'local';

/** Own-model credentials of a channel that runs: which model they name, or why it cannot be used. */
const ownModel = (
  { provider_model, api_key }: ModelChannel,
  platform: string,
  name: 'llm' | 'ocr',
): string | WorkProblem | undefined => {
  if (api_key === undefined) return undefined;
  const model = provider_model ?? platform;
  const provider = model.split('/', 1)[0] ?? '';
  if (provider === LOCAL)
    return workProblem(
      'validation_error',
      `${name}_api_key was given, but ${model} is local and takes no key. Name a model with ${name}_provider_model, or leave the key out.`,
      { loc: ['body', `${name}_api_key`] },
    );
  return workProblem(
    'unknown_model_provider',
    `There is no model provider "${provider}" here. Use local/default, or leave ${name}_provider_model out.`,
  );
};

/** The OCR step's model: its own, or the extraction model's, or the platform's. */
const inherited = (ocr: string | undefined, llm: string | undefined, platform: string): string =>
  ocr ?? llm ?? platform;

/**
 * Chooses by the BYOK rules: a key of a channel that runs switches to own-key rates; without a key the
 * other members are ignored; a key of a channel that does not run is ignored.
 */
export const chooseModels = (
  channels: {
    readonly llm: ModelChannel;
    readonly ocr: ModelChannel;
    readonly runs: { llm: boolean; ocr: boolean };
  },
  platform: { readonly extraction: string; readonly ocr: string },
): ChosenModels | WorkProblem => {
  const { runs } = channels;
  const llm = runs.llm ? ownModel(channels.llm, platform.extraction, 'llm') : undefined;
  if (typeof llm === 'object') return llm;
  const ocr = runs.ocr ? ownModel(channels.ocr, platform.ocr, 'ocr') : undefined;
  if (typeof ocr === 'object') return ocr;
  return {
    kind: 'models',
    billing_type: llm === undefined && ocr === undefined ? 'full_service' : 'byok',
    model: llm ?? platform.extraction,
    ocr_model: runs.ocr ? inherited(ocr, llm, platform.ocr) : null,
  };
};

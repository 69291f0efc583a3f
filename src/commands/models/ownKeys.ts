import type { BillingType } from '../../../domain/account/messages.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { ModelCall } from '@quire/engine/ports/modelWork';
import type { PlatformModels } from '../../platformModels.ts';
import { chooseModels, type ChannelName, type Channels, type ChosenModels } from './models.ts';
import { checkBases, type ModelDeps } from './ownBases.ts';
import type { WorkProblem } from '../work/workProblem.ts';

/** What is chosen for a file with pages to look at, and for one without: there the OCR channel never runs. */
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

/** What work comes to by the calls that were made for it. */
export interface OwnKeyUse {
  readonly billing_type: BillingType;
  /** `own_key_not_used` for each key that was given and paid for nothing. */
  readonly warnings: readonly JsonObject[];
}

/** Own-key rates are for work that an own key paid for: by the calls, not by what was sent. */
export const ownKeyUse = (models: ChosenModels, calls: readonly ModelCall[]): OwnKeyUse => {
  const used = new Set(calls.map((call) => keyOf(models, call)));
  const billing_type = used.has('llm') || used.has('ocr') ? 'byok' : 'full_service';
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

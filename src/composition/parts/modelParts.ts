import { readFile } from 'node:fs/promises';
import { modelCallFact } from '../../commands/llmCosts.ts';
import type { ModelDeps } from '../../commands/models.ts';
import type { LogCall } from '../../commands/deliverWork.ts';
import { modelWork } from '@quire/engine/models/byModel/workByModel';
import type { Context } from '../context.ts';
import type { ProviderMetrics } from '../metrics/workMetrics.ts';

/** Tokens are counted before they are logged: a log that fails changes no metric. */
const counted =
  ({ onTokens }: ProviderMetrics, log: LogCall): LogCall =>
  (work, call) => {
    onTokens(call.ref.provider, call.usage);
    return log(work, call);
  };

/** Models as work on documents needs them: to do it, and to log what each call of one used. */
export const modelParts = (from: Context): ModelDeps & { readonly logCall: LogCall } => {
  const { workers } = from.parts;
  const providers = from.models;
  const clock = from.clock;
  const facts = from.facts;
  return {
    checkBase: providers.checkBase,
    modelWork: modelWork({
      providers,
      tools: workers.tools,
      parser: workers.parser,
      schemas: workers.schemaValidator,
      localDeadlinesMs: from.config.localDeadlinesMs,
      readFile: (path) => readFile(path),
    }),
    logCall: counted(from.providerMetrics, (work, call) => facts.record(modelCallFact(clock, work, call))),
  };
};

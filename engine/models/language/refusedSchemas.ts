import { canonicalJson, sha256 } from '../../kernel/canonicalJson.ts';
import type { JsonObject } from '../../kernel/json.ts';

/** Schemas that servers refused to hold a model to: one refusal says nothing of other schemas. */
export interface RefusedSchemas {
  readonly has: (model: string, schema: JsonObject) => boolean;
  readonly add: (model: string, schema: JsonObject) => void;
}

/** A server may have learned more by then. */
const KEPT_MS = 60 * 60 * 1000;
const MODELS_MAX = 1_000;
const SCHEMAS_MAX = 100;

const makeRoom = (entries: Map<string, unknown>, max: number): void => {
  if (entries.size >= max) entries.delete(entries.keys().next().value ?? '');
};

/** Remembered for an hour, by model and schema; those that were refused first make room. */
export const refusedSchemas = (nowMs: () => number): RefusedSchemas => {
  const models = new Map<string, Map<string, number>>();
  const digestOf = (schema: JsonObject): string => sha256(canonicalJson(schema));
  return {
    has: (model, schema) => {
      const until = models.get(model)?.get(digestOf(schema));
      return until !== undefined && until > nowMs();
    },
    add: (model, schema) => {
      if (!models.has(model)) makeRoom(models, MODELS_MAX);
      const refused = models.get(model) ?? new Map<string, number>();
      models.set(model, refused);
      makeRoom(refused, SCHEMAS_MAX);
      refused.set(digestOf(schema), nowMs() + KEPT_MS);
    },
  };
};

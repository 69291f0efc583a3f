import { LRUCache } from 'lru-cache';
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

/** Remembered for an hour, by model and schema; the least used make room. */
export const refusedSchemas = (nowMs: () => number): RefusedSchemas => {
  const models = new LRUCache<string, LRUCache<string, number>>({ max: MODELS_MAX });
  const digestOf = (schema: JsonObject): string => sha256(canonicalJson(schema));
  return {
    has: (model, schema) => {
      const until = models.get(model)?.get(digestOf(schema));
      return until !== undefined && until > nowMs();
    },
    add: (model, schema) => {
      const refused = models.get(model) ?? new LRUCache<string, number>({ max: SCHEMAS_MAX });
      models.set(model, refused);
      refused.set(digestOf(schema), nowMs() + KEPT_MS);
    },
  };
};

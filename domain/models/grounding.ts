import type { Document } from '../document/document.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Citation } from '../ports/extractionEngine.ts';

export interface Grounding {
  readonly citations: readonly Citation[];
  readonly ungrounded: readonly string[];
}

export function groundedIn(
  _d: Document,
  _w: { readonly schema: JsonObject; readonly value: JsonObject },
): Grounding {
  return { citations: [], ungrounded: [] };
}

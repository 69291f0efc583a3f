import type { DocumentWarning, SeenValue } from '../document/document.ts';
import { memberPointer, isList, type Json, type JsonObject } from '../kernel/json.ts';
import type { ExtractionSettings, LocalCitation, ValueCitation } from '../ports/extractionEngine.ts';

/** Below it a value is more likely wrong than right. */
export const MIN_CONFIDENCE = 0.5;

export type Floor = Pick<ExtractionSettings, 'min_confidence'>;

/** A value's place; `inexact`: a number is asked for, and what stands there are digits that no number holds. */
export type LocalRead = LocalCitation & { readonly inexact?: boolean };

/** Values with the places that they were read from. */
export interface Cited<Of = LocalRead> {
  readonly value: JsonObject;
  readonly citations: readonly Of[];
}

interface Floored<Of> extends Cited<Of> {
  readonly seen: readonly SeenValue[];
}

/**
 * Leaves out what is less sure than asked for, as if it were absent: of a row its leaf, of a list its item, and
 * what holds nothing else with it. Places of what stays follow. A value without a citation is not judged.
 */
export const aboveFloor = (
  { value, citations }: Cited,
  { min_confidence = MIN_CONFIDENCE }: Floor,
): Floored<LocalRead> =>
  withoutDoubts({ value, citations }, (one) =>
    one.inexact === true || one.confidence < min_confidence ? one : undefined,
  );

/**
 * The same of what a model told: what stands nowhere is left out where grounding is required, and is not judged by
 * its confidence else.
 */
export const toldAboveFloor = (
  told: Cited<ValueCitation>,
  { min_confidence = MIN_CONFIDENCE, require_grounding = false }: ExtractionSettings,
): Floored<ValueCitation> =>
  withoutDoubts(told, (one) => {
    if (one.page !== null) return one.confidence < min_confidence ? one : undefined;
    return require_grounding && one.grounding === 'none' ? one : undefined;
  });

function withoutDoubts<Of extends { readonly path: string }>(
  { value, citations }: Cited<Of>,
  doubtOf: (citation: Of) => Omit<SeenValue, 'value'> | undefined,
): Floored<Of> {
  const doubts = new Map(
    citations.flatMap((citation) => {
      const doubt = doubtOf(citation);
      return doubt === undefined ? [] : [[citation.path, doubt] as const];
    }),
  );
  if (doubts.size === 0) return { value, citations, seen: [] };
  const walk: Walk = { doubts, moved: new Map(), seen: [] };
  const left = membersOf(value, ROOT, walk);
  return {
    value: left,
    citations: citations.flatMap((citation) => {
      const path = walk.moved.get(citation.path);
      return path === undefined ? [] : [{ ...citation, path }];
    }),
    seen: walk.seen,
  };
}

interface Walk {
  readonly doubts: ReadonlyMap<string, Omit<SeenValue, 'value'>>;
  /** Where a leaf that stays stood, and where it stands now. */
  readonly moved: Map<string, string>;
  readonly seen: SeenValue[];
}

/** JSON Pointers. */
interface MovedPointer {
  readonly was: string;
  readonly is: string;
}

const ROOT: MovedPointer = { was: '', is: '' };

function keptOf(value: Json, place: MovedPointer, walk: Walk): Json | undefined {
  const doubt = walk.doubts.get(place.was);
  if (doubt !== undefined) {
    const { text, page, bbox, confidence, inexact } = doubt;
    const at = { path: place.is, text, page, bbox, confidence };
    walk.seen.push({ ...at, ...(inexact === true && { inexact }), value });
    return undefined;
  }
  walk.moved.set(place.was, place.is);
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return itemsOf(value, place, walk);
  const left = membersOf(value, place, walk);
  return emptied(value, left) ? undefined : left;
}

const emptied = (before: object, after: object): boolean =>
  Object.keys(before).length > 0 && Object.keys(after).length === 0;

function membersOf(value: JsonObject, place: MovedPointer, walk: Walk): JsonObject {
  const entries: [string, Json][] = [];
  for (const [name, member] of Object.entries(value)) {
    const kept = keptOf(
      member,
      { was: memberPointer(place.was, name), is: memberPointer(place.is, name) },
      walk,
    );
    if (kept !== undefined) entries.push([name, kept]);
  }
  return Object.fromEntries(entries);
}

function itemsOf(items: readonly Json[], { was, is }: MovedPointer, walk: Walk): Json | undefined {
  const left: Json[] = [];
  for (const [index, item] of items.entries()) {
    const seenBefore = walk.seen.length;
    const kept = keptOf(item, { was: `${was}/${index}`, is: `${is}/${left.length}` }, walk);
    if (kept === undefined) nameTheList(walk, seenBefore, is);
    else left.push(kept);
  }
  return emptied(items, left) ? undefined : left;
}

/** An item that is gone has no place: what was seen of it is told by its list. */
function nameTheList({ seen }: Walk, from: number, list: string): void {
  for (const [offset, one] of seen.slice(from).entries()) seen[from + offset] = { ...one, path: list };
}

/** Warnings of one answer; the rest is counted. */
const WARNINGS_MAX = 100;

/** What an answer says of values that were seen, but left out. */
export function seenWarnings(
  seen: readonly SeenValue[],
  { min_confidence = MIN_CONFIDENCE }: Floor,
): readonly DocumentWarning[] {
  const told = seen.slice(0, WARNINGS_MAX).map((one): DocumentWarning => {
    const { inexact, page, expected, ...rest } = one;
    if (page === null)
      return {
        code: 'not_grounded',
        path: one.path,
        value: one.value,
        message: 'Left out: it was not found in the text of the document.',
      };
    if (expected !== undefined)
      return {
        code: 'balance_off',
        message: `Printed as "${one.text}"; by the rows before it, it is ${expected}.`,
        ...rest,
        page,
      };
    if (inexact !== true || one.confidence < min_confidence)
      return {
        code: 'low_confidence',
        message: `Left out: its confidence is ${one.confidence}, below ${min_confidence}.`,
        ...rest,
        page,
      };
    const message = `Left out: "${one.text}" is no number that JSON carries exactly: ask for it as a string.`;
    return { code: 'inexact_number', message, ...rest, page };
  });
  const rest = seen.length - told.length;
  return rest === 0
    ? told
    : [
        ...told,
        { code: 'low_confidence', message: `${rest} more values below ${min_confidence} were left out.` },
      ];
}

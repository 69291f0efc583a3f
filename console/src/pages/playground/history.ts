import { useReducer } from 'react';

/** Texts before and after the one that stands, the nearest last; and what made it. */
export interface History {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** What is typed into one place is one step. */
  readonly place: unknown;
}

export const NO_HISTORY: History = { before: [], after: [], place: undefined };

/** Steps that one can go back. */
const STEPS_MAX = 200;

export type Turn =
  | { readonly kind: 'change'; readonly from: string; readonly place: unknown }
  | { readonly kind: 'undo' | 'redo'; readonly from: string };

/** The history after a change, or after a step back or forth. */
export const turned = (history: History, turn: Turn): History => {
  const { before, after, place } = history;
  if (turn.kind === 'change') {
    const isGoingOn = turn.place !== undefined && turn.place === place && before.length > 0;
    const next = isGoingOn ? before : [...before, turn.from].slice(-STEPS_MAX);
    return { before: next, after: [], place: turn.place };
  }
  return turn.kind === 'undo'
    ? { before: before.slice(0, -1), after: [...after, turn.from], place: undefined }
    : { before: [...before, turn.from], after: after.slice(0, -1), place: undefined };
};

/** Changes of a text that can be undone and done again. */
export const useHistory = (text: string, onChange: (text: string) => void) => {
  const [{ before, after }, turn] = useReducer(turned, NO_HISTORY);
  const go = (kind: 'undo' | 'redo', to: string | undefined) =>
    to === undefined
      ? undefined
      : (): void => {
          turn({ kind, from: text });
          onChange(to);
        };
  return {
    change: (next: string, place?: unknown): void => {
      if (next === text) return;
      turn({ kind: 'change', from: text, place });
      onChange(next);
    },
    /** undefined: there is nothing to undo. */
    undo: go('undo', before.at(-1)),
    redo: go('redo', after.at(-1)),
  };
};

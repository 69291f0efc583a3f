import type { OutputValidationError, Review } from '@quire/client';
import { useEffect, useMemo, useReducer, useRef, useState, type KeyboardEvent } from 'react';
import { valueRows, type SchemaPart, type ValueRow } from '../../document/values.ts';
import { reviews as texts } from '../../texts/reviews.ts';
import {
  decisionIn,
  draftFrom,
  draftOf,
  draftText,
  newRow,
  isGroupAt,
  nothingAt,
  rowOf,
  stepped,
  typedValue,
  valueAt,
  type Draft,
  type Step,
} from './draft.ts';

/** Drafts outlive a reload of their page, in its window alone; with signing out they go. */
const keptName = ({ review_id, generation }: Review): string =>
  `draft of ${review_id}, ${String(generation)}`;

/** Forgets the draft of a review that was decided. */
export const forgetDraft = (review: Review): void => sessionStorage.removeItem(keptName(review));

const keepDraft = (review: Review, draft: Draft): void => {
  if (draft.before === undefined) {
    forgetDraft(review);
    return;
  }
  try {
    sessionStorage.setItem(keptName(review), draftText(draft));
  } catch {
    // there is no space: a reload loses it
    forgetDraft(review);
  }
};

const begunDraft = (review: Review): Draft => {
  const isOpen = review.status === 'open' || review.status === 'leased';
  const kept = !isOpen ? null : sessionStorage.getItem(keptName(review));
  return kept === null ? draftOf(review) : draftFrom(kept, draftOf(review));
};

/** Where all of a result is in doubt. */
const WHOLE = { path: '', name: texts.whole, depth: 0, value: undefined, citation: undefined, errors: [] };

export interface Deciding {
  readonly review: Review;
  /** What was sent and is no decision, and why. */
  readonly refused: {
    readonly result: Draft['result'];
    readonly faults: readonly OutputValidationError[];
  } | null;
  readonly canDecide: boolean;
  readonly onDone: (decision: ReturnType<typeof decisionIn>) => void;
  /** Asks for the reason of a rejection. */
  readonly onReject: () => void;
  /** Goes to the next review, or to the one before. */
  readonly onGo: (by: 1 | -1) => void;
  readonly onLeave: () => void;
}

type Change = Extract<Step, { readonly list: string }>['kind'];

/** The draft of a decision: its values, those in doubt, and the one that is chosen. */
const useDraft = ({ review, refused }: Deciding) => {
  const [draft, take] = useReducer(stepped, review, begunDraft);
  useEffect(() => keepDraft(review, draft), [review, draft]);
  const schema = useMemo(() => (review.schema ?? {}) as SchemaPart, [review.schema]);
  const rowsIn = (one: Draft): readonly ValueRow[] => {
    // what was changed since is not at fault
    const errors = (refused?.faults ?? []).filter(
      ({ path }) => valueAt(one.result, path) === valueAt(refused?.result, path),
    );
    const rows = valueRows(one.result, schema, { citations: one.citations, errors });
    return one.doubts.some(({ path }) => path === '') ? [WHOLE, ...rows] : rows;
  };
  const rows = rowsIn(draft);
  const doubtOf = ({ path }: ValueRow) => draft.doubts.find((doubt) => doubt.path === path);
  const fields = rows.filter((row) => row.value !== undefined || doubtOf(row) !== undefined);
  const left = fields.filter((row) => doubtOf(row) !== undefined && !draft.accepted.has(row.path));
  const [asked, choose] = useState<string>();
  const chosen = (fields.find(({ path }) => path === asked) ?? left[0] ?? fields[0])?.path;
  return { draft, take, schema, rows, rowsIn, doubtOf, fields, left, chosen, choose };
};

type Known = ReturnType<typeof useDraft>;

/** The value that is chosen, what is typed in its place, and the ways to others. */
const usePicking = ({ choose, fields, left, chosen = '' }: Known, refused: Deciding['refused']) => {
  const [typed, type] = useState<string>();
  const [turn, count] = useState(0);
  const pick = (path: string | undefined): void => {
    type(undefined);
    count((one) => one + 1);
    choose(path);
  };
  const fault = useRef<string>(undefined);
  useEffect(() => {
    fault.current = fields.find(({ errors }) => errors.length > 0)?.path;
  });
  useEffect(() => {
    if (refused === null || fault.current === undefined) return;
    choose(fault.current);
    count((one) => one + 1);
  }, [refused, choose]);
  const next = (among: readonly ValueRow[], by: 1 | -1): boolean => {
    const order = by === 1 ? fields : [...fields].reverse();
    const from = order.findIndex(({ path }) => path === chosen);
    const found = order.slice(from + 1).find((row) => among.includes(row));
    if (found !== undefined) pick(found.path);
    return found !== undefined;
  };
  /** Goes to the next value in doubt; at the last one it stays. */
  const goOn = (): void => {
    const others = left.filter(({ path }) => path !== chosen);
    if (!next(others, 1)) pick(chosen);
  };
  return { typed, type, turn, pick, next, goOn };
};

type Picking = ReturnType<typeof usePicking>;

/** What can be done with the row of a list that the chosen value is in. */
const rowMoves = ({ draft, take, schema, rowsIn, chosen = '' }: Known, pick: Picking['pick']) => {
  const row = rowOf({ result: draft.result, schema }, chosen);
  const canChange = (kind: Change): boolean =>
    row !== undefined && row.at >= { add: -1, remove: 0, join: 1 }[kind];
  const changeRow = (kind: Change): void => {
    if (row === undefined || !canChange(kind)) return;
    const step: Step = kind === 'add' ? { kind, ...row, value: newRow(schema, row.list) } : { kind, ...row };
    take(step);
    // what stands in its place now, or before it
    const after = rowsIn(stepped(draft, step)).filter(({ value }) => value !== undefined);
    const at = { add: row.at + 1, remove: row.at, join: row.at - 1 }[kind];
    const found = [at, at - 1].flatMap((one) => {
      const path = `${row.list}/${String(one)}`;
      return after.filter((each) => each.path === path || each.path.startsWith(`${path}/`));
    });
    pick(found[0]?.path ?? row.list);
  };
  const isItem = row !== undefined && chosen === `${row.list}/${String(row.at)}`;
  return { canChange, changeRow, isItem };
};

/** What can be done with the chosen value: to say it, to accept it, or that the document does not say it. */
const valueMoves = (known: Known, { type, pick, goOn }: Picking) => {
  const { draft, take, schema, fields, chosen = '' } = known;
  const { isItem, ...rows } = rowMoves(known, pick);
  const isGroup =
    fields.find(({ path }) => path === chosen)?.value === undefined && isGroupAt(schema, chosen);
  const isMissing = draft.doubts.some(({ code, path }) => code === 'missing_required' && path === chosen);
  const canBeNothing = !isGroup || isMissing;
  const set = (value: unknown): void => {
    take({ kind: 'set', path: chosen, value });
    goOn();
  };
  /** Says that the document does not say it; an item of a list goes with its row. */
  const nothing = (): void => {
    if (isItem) rows.changeRow('remove');
    else if (canBeNothing) set(nothingAt(schema, chosen));
  };
  const say = (text: string): void => {
    if (text.trim() === '') nothing();
    else if (!isGroup) set(typedValue(schema, chosen, text.trim()));
  };
  const accept = (): void => {
    take({ kind: 'accept', path: chosen });
    goOn();
  };
  const undo = (): void => {
    take({ kind: 'undo' });
    pick(draft.at ?? chosen);
  };
  const write = (text?: string): void => {
    if (!isGroup) type(text ?? fields.find(({ path }) => path === chosen)?.value ?? '');
  };
  return { ...rows, isGroup, canBeNothing, say, accept, nothing, undo, write };
};

/** The draft of a decision, and what one does with it. */
export const useDeciding = (given: Deciding) => {
  const { refused, canDecide, onDone, onReject, onGo, onLeave } = given;
  const known = useDraft(given);
  const { draft, schema, left } = known;
  const picking = usePicking(known, refused);
  const [isAsking, ask] = useState(false);
  const send = (): void => {
    ask(false);
    if (canDecide) onDone(decisionIn(draft, schema));
  };
  const done = (): void => {
    if (left.length === 0) send();
    else if (canDecide) ask(true);
  };
  /** Goes to the first value that is still in doubt. */
  const look = (): void => {
    ask(false);
    picking.pick(left[0]?.path);
  };
  const ways = { send, done, look, onReject, onGo, onLeave };
  return { ...known, ...picking, ...valueMoves(known, picking), ...ways, isAsking };
};
export type Moves = ReturnType<typeof useDeciding>;

type Keys = Readonly<Record<string, (moves: Moves) => unknown>>;

/** Keys that change nothing of the review. */
const LOOKING: Keys = {
  ArrowDown: ({ next, fields }) => next(fields, 1),
  ArrowUp: ({ next, fields }) => next(fields, -1),
  PageDown: ({ onGo }) => onGo(1),
  PageUp: ({ onGo }) => onGo(-1),
  Escape: ({ onLeave }) => onLeave(),
};

/** What keys do while a value is chosen. Whatever is printed on a key begins to write. */
const CHOOSING: Keys = {
  ...LOOKING,
  // at the last value in doubt the key goes on to what follows
  Tab: ({ next, left }) => next(left, 1),
  'Shift+Tab': ({ next, left }) => next(left, -1),
  Enter: ({ accept }) => accept(),
  Delete: ({ nothing }) => nothing(),
  Backspace: ({ nothing }) => nothing(),
  F2: ({ write }) => write(),
  'Shift+Enter': ({ changeRow }) => changeRow('add'),
  'Shift+Delete': ({ changeRow }) => changeRow('remove'),
  'Shift+Backspace': ({ changeRow }) => changeRow('remove'),
  'Shift+ArrowUp': ({ changeRow }) => changeRow('join'),
};

const TYPING: Keys = {
  Escape: ({ pick, chosen }) => pick(chosen),
  Enter: ({ say, typed = '' }) => say(typed),
  Tab: ({ say, typed = '' }) => say(typed),
};

const command = ({ key, shiftKey }: KeyboardEvent, moves: Moves): boolean => {
  const { typed, say, done, undo, onReject } = moves;
  // what is being typed is not sent before somebody saw it at its place
  if (key === 'Enter' && typed !== undefined) say(typed);
  else if (key === 'Enter') (shiftKey ? onReject : done)();
  else if (key === 'z' && typed === undefined) undo();
  else return false;
  return true;
};

/** Does what a key is for; false: it is for nothing, or nothing came of it. */
const does = (move: Keys[string] | undefined, moves: Moves): boolean =>
  move !== undefined && move(moves) !== false;

const whileChoosing = ({ key, shiftKey }: KeyboardEvent, moves: Moves): boolean => {
  const move = CHOOSING[shiftKey ? `Shift+${key}` : key];
  if (move !== undefined) return does(move, moves);
  if (key.length > 1 || key === ' ') return false;
  moves.write(key);
  return true;
};

interface Hearing {
  readonly moves: Moves;
  /** The key was pressed at a value. */
  readonly isThere: boolean;
  readonly isOpen: boolean;
}

/** Does what a key says; outside of the values, what it says everywhere. A held key counts once for a command. */
export const heard = (event: KeyboardEvent, { moves, isThere, isOpen }: Hearing): boolean => {
  const isCommand = event.ctrlKey || event.metaKey;
  if (event.altKey || (isCommand && (!isOpen || event.repeat))) return false;
  if (isCommand) return command(event, moves);
  if (!isThere) return false;
  if (!isOpen) return does(LOOKING[event.key], moves);
  return moves.typed === undefined ? whileChoosing(event, moves) : does(TYPING[event.key], moves);
};

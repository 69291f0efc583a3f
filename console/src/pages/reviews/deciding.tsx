import type { OutputValidationError, Review } from '@quire/client';
import { useEffect, useMemo, useReducer, useRef, useState, type KeyboardEvent } from 'react';
import { DocumentView } from '../../document/documentView.tsx';
import { valueRows, type SchemaPart, type ValueRow } from '../../document/values.ts';
import { reviews as texts } from '../../texts/reviews.ts';
import { Button } from '../../ui/button.tsx';
import { Badge, Card } from '../../ui/card.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { classes, CONTROL } from '../../ui/style.ts';
import {
  decisionIn,
  draftFrom,
  draftOf,
  draftText,
  newRow,
  nothingAt,
  rowOf,
  stepped,
  typedValue,
  valueAt,
  type Doubt,
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
  const kept = review.status === 'decided' ? null : sessionStorage.getItem(keptName(review));
  return kept === null ? draftOf(review) : draftFrom(kept, draftOf(review));
};

const whyOf = ({ code, confidence }: Doubt): string =>
  confidence === undefined ? texts.reasons[code] : texts.sure(texts.reasons[code], confidence);

interface FieldProps {
  readonly row: ValueRow;
  readonly isChosen: boolean;
  /** Why it is in doubt; undefined: nobody doubts it. */
  readonly why: string | undefined;
  readonly isAccepted: boolean;
  /** What is being typed; undefined: nothing. */
  readonly typed: string | undefined;
  /** Changes with each choice: the focus comes back then, wherever it went. */
  readonly turn: number;
  readonly onType: (text: string) => void;
  readonly onChoose: () => void;
}

function Said({ row: { name, value } }: Pick<FieldProps, 'row'>) {
  const shown = name.replaceAll('_', ' ');
  if (value === undefined) return <span className="min-w-0 flex-1 font-medium break-words">{shown}</span>;
  return (
    <>
      <span className="w-2/5 min-w-0 shrink-0 text-[13px] break-words text-soft">{shown}</span>
      <span className="min-w-0 flex-1 break-words">
        {value ?? <i className="text-soft">{texts.nothing}</i>}
      </span>
    </>
  );
}

/** A value as it stands, with its name; or the name of several that are in doubt together. */
function Standing({ row, isChosen, why, isAccepted, turn, onChoose }: FieldProps) {
  const { path } = row;
  const place = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isChosen) place.current?.focus();
  }, [isChosen, turn]);
  return (
    <button
      ref={place}
      type="button"
      data-field={path}
      data-doubtful={why !== undefined && !isAccepted ? '' : undefined}
      aria-pressed={isChosen}
      tabIndex={isChosen ? 0 : -1}
      onClick={onChoose}
      className={classes(
        'flex min-h-8 scroll-my-8 items-center gap-2 rounded-md border px-2 py-1 text-left hover:bg-sunken',
        isChosen ? 'border-accent bg-accent-soft' : 'border-transparent',
      )}
    >
      <Said row={row} />
      {why !== undefined && (
        <Badge tone={isAccepted ? 'good' : 'warn'}>{isAccepted ? texts.accepted : why}</Badge>
      )}
    </button>
  );
}

function Typing({ row, typed, onType }: Pick<FieldProps, 'row' | 'onType'> & { typed: string }) {
  const place = useRef<HTMLInputElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <label className="flex items-center gap-2 px-2 py-0.5">
      <span className="w-2/5 min-w-0 shrink-0 text-[13px] break-words text-soft">
        {row.name.replaceAll('_', ' ')}
      </span>
      <input
        ref={place}
        data-editing={row.path}
        value={typed}
        onChange={({ target }) => onType(target.value)}
        className={CONTROL}
      />
    </label>
  );
}

/** One value with its name. What is chosen has the focus, so that its keys are heard. */
function Field(props: FieldProps) {
  const { row, isChosen, typed, onType, why } = props;
  const { name, value, depth, errors } = row;
  const style = { paddingLeft: `${String(depth)}rem` };
  if (value === undefined && why === undefined)
    return (
      <p className="px-2 pt-2 font-medium" style={{ marginLeft: style.paddingLeft }}>
        {name.replaceAll('_', ' ')}
      </p>
    );
  return (
    <div className="flex min-w-0 flex-col" style={style}>
      {isChosen && typed !== undefined ? (
        <Typing row={row} typed={typed} onType={onType} />
      ) : (
        <Standing {...props} />
      )}
      {errors.map((fault) => (
        <p key={fault} className="px-2 text-[13px] text-bad">
          {fault}
        </p>
      ))}
    </div>
  );
}

/** Where all of a result is in doubt. */
const WHOLE = { path: '', name: texts.whole, depth: 0, value: undefined, citation: undefined, errors: [] };

interface Deciding {
  readonly review: Review;
  /** What was sent and is no decision, and why. */
  readonly refused: {
    readonly result: Draft['result'];
    readonly faults: readonly OutputValidationError[];
  } | null;
  readonly canDecide: boolean;
  readonly onDone: (decision: ReturnType<typeof decisionIn>) => void;
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

/** The draft of a decision, and what one does with it. */
const useDeciding = (given: Deciding) => {
  const { refused, canDecide, onDone } = given;
  const { choose, take, ...known } = useDraft(given);
  const { draft, schema, rowsIn, fields, left, chosen = '' } = known;
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
  const goOn = (): void => {
    if (
      !next(
        left.filter(({ path }) => path !== chosen),
        1,
      )
    )
      pick(chosen);
  };
  const isGroup = fields.find(({ path }) => path === chosen)?.value === undefined;
  const set = (value: unknown): void => {
    if (isGroup) return;
    take({ kind: 'set', path: chosen, value });
    goOn();
  };
  const say = (text: string): void =>
    set(text.trim() === '' ? nothingAt(schema, chosen) : typedValue(schema, chosen, text.trim()));
  const accept = (): void => {
    take({ kind: 'accept', path: chosen });
    goOn();
  };
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
  const undo = (): void => {
    take({ kind: 'undo' });
    pick(draft.at ?? chosen);
  };
  const write = (text?: string): void => {
    if (!isGroup) type(text ?? fields.find(({ path }) => path === chosen)?.value ?? '');
  };
  const done = (): void => {
    if (canDecide) onDone(decisionIn(draft, schema));
  };
  const moves = { next, say, accept, undo, write, done, changeRow, canChange, pick, type };
  return { ...known, ...moves, typed, turn, isGroup, nothing: () => say('') };
};
type Moves = ReturnType<typeof useDeciding>;

/** What keys do while a value is chosen. Whatever is printed on a key begins to write. */
const CHOOSING: Readonly<Record<string, (moves: Moves) => unknown>> = {
  // at the last value in doubt the key goes on to what follows
  Tab: ({ next, left }) => next(left, 1),
  'Shift+Tab': ({ next, left }) => next(left, -1),
  ArrowDown: ({ next, fields }) => next(fields, 1),
  ArrowUp: ({ next, fields }) => next(fields, -1),
  Enter: ({ accept }) => accept(),
  Delete: ({ nothing }) => nothing(),
  Backspace: ({ nothing }) => nothing(),
  F2: ({ write }) => write(),
  'Shift+Enter': ({ changeRow }) => changeRow('add'),
  'Shift+Delete': ({ changeRow }) => changeRow('remove'),
  'Shift+Backspace': ({ changeRow }) => changeRow('remove'),
  'Shift+ArrowUp': ({ changeRow }) => changeRow('join'),
};

const TYPING: Readonly<Record<string, (moves: Moves) => unknown>> = {
  Escape: ({ pick, chosen }) => pick(chosen),
  Enter: ({ say, typed = '' }) => say(typed),
  Tab: ({ say, typed = '' }) => say(typed),
};

const command = (key: string, { typed, done, undo }: Moves): boolean => {
  if (key === 'Enter') done();
  else if (key === 'z' && typed === undefined) undo();
  else return false;
  return true;
};

const whileTyping = ({ key }: KeyboardEvent, moves: Moves): boolean => {
  const does = TYPING[key];
  return does !== undefined && does(moves) !== false;
};

const whileChoosing = ({ key, shiftKey }: KeyboardEvent, moves: Moves): boolean => {
  const does = CHOOSING[shiftKey ? `Shift+${key}` : key];
  if (does !== undefined) return does(moves) !== false;
  if (key.length > 1 || key === ' ') return false;
  moves.write(key);
  return true;
};

/** Does what a key says; outside of the values, what it says everywhere. */
const heard = (
  event: KeyboardEvent,
  { moves, isThere }: { readonly moves: Moves; readonly isThere: boolean },
): boolean => {
  if (event.altKey) return false;
  if (event.ctrlKey || event.metaKey) return command(event.key, moves);
  if (!isThere) return false;
  return moves.typed === undefined ? whileChoosing(event, moves) : whileTyping(event, moves);
};

function Key({ name }: { name: string }) {
  return <kbd className="font-sans text-xs font-normal pointer-coarse:hidden">{name}</kbd>;
}

/** What can be done, each with its key. */
function Actions({ moves, isBusy, canDecide }: { moves: Moves; isBusy: boolean; canDecide: boolean }) {
  const { draft, left, isGroup, accept, nothing, write, undo, done, changeRow, canChange } = moves;
  const { keys, row } = texts;
  return (
    <div className="sticky bottom-0 mt-3 flex flex-col gap-2 border-t border-line bg-surface pt-3 pb-1">
      <div className="flex flex-wrap gap-2">
        <Button size="small" onClick={accept}>
          {texts.accept} <Key name={keys.accept} />
        </Button>
        {!isGroup && (
          <>
            <Button size="small" onClick={() => write()}>
              {texts.write} <Key name={keys.write} />
            </Button>
            <Button size="small" onClick={nothing}>
              {texts.empty} <Key name={keys.empty} />
            </Button>
          </>
        )}
        {(['add', 'remove', 'join'] as const).filter(canChange).map((kind) => (
          <Button key={kind} size="small" onClick={() => changeRow(kind)}>
            {row[kind]} <Key name={keys[kind]} />
          </Button>
        ))}
      </div>
      <div className="flex flex-wrap gap-2">
        <Button
          look={left.length === 0 ? 'primary' : 'plain'}
          isBusy={isBusy}
          disabled={!canDecide}
          onClick={done}
        >
          {texts.done} <Key name={keys.done} />
        </Button>
        <Button look="quiet" disabled={draft.before === undefined} onClick={undo}>
          {texts.undo} <Key name={keys.undo} />
        </Button>
      </div>
    </div>
  );
}

interface DocumentProps {
  readonly file: File | undefined;
  readonly moves: Moves;
  readonly isOpen: boolean;
}

function Document({ file, moves, isOpen }: DocumentProps) {
  const { draft, rows, chosen, pick, say, isGroup } = moves;
  const marks = draft.citations.flatMap(({ path, page, bbox }) =>
    page === null || bbox === null ? [] : [{ path, page, box: bbox }],
  );
  const onDrawn = (words: string): void => {
    if (words !== '') say(words);
  };
  return (
    <Card title={texts.document} className="[--document-height:42vh] lg:[--document-height:75vh]">
      {file === undefined ? (
        <Skeleton className="h-96" />
      ) : (
        <DocumentView
          file={file}
          rows={rows}
          marks={marks}
          chosen={chosen}
          onChoose={pick}
          onDrawn={isOpen && !isGroup ? onDrawn : undefined}
        />
      )}
    </Card>
  );
}

interface DecidingProps extends Deciding {
  readonly file: File | undefined;
  /** It was not decided, so that it can be changed. */
  readonly isOpen: boolean;
  readonly isBusy: boolean;
}

/** The document at the left, its values at the right. */
export function Deciding({ file, isOpen, isBusy, ...given }: DecidingProps) {
  const moves = useDeciding(given);
  const { draft, rows, left, chosen, typed, turn, doubtOf, pick, type } = moves;
  const fields = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const isThere = fields.current?.contains(event.target as Node) === true;
    if (isOpen && heard(event, { moves, isThere })) event.preventDefault();
  };
  return (
    <div onKeyDown={onKeyDown} className="grid items-start gap-4 lg:grid-cols-[3fr_2fr]">
      <Document file={file} moves={moves} isOpen={isOpen} />
      <Card
        title={texts.fields}
        actions={
          isOpen && <Badge tone={left.length === 0 ? 'good' : 'warn'}>{texts.left(left.length)}</Badge>
        }
      >
        <div
          ref={fields}
          role="group"
          aria-label={texts.fields}
          className="-mx-1 flex flex-col gap-0.5 p-1 lg:max-h-[58vh] lg:overflow-auto"
        >
          {rows.map((row) => {
            const doubt = isOpen ? doubtOf(row) : undefined;
            return (
              <Field
                key={row.path}
                row={row}
                isChosen={row.path === chosen}
                why={doubt && whyOf(doubt)}
                isAccepted={draft.accepted.has(row.path)}
                typed={typed}
                turn={turn}
                onType={type}
                onChoose={() => pick(row.path)}
              />
            );
          })}
        </div>
        {isOpen && (
          <>
            <Actions moves={moves} isBusy={isBusy} canDecide={given.canDecide} />
            <p className="mt-2 text-[13px] text-soft">{texts.hint}</p>
          </>
        )}
      </Card>
    </div>
  );
}

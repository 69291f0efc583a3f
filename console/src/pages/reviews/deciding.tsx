import type { Citation } from '@quire/client';
import { useMemo, useRef, type KeyboardEvent } from 'react';
import { DocumentView } from '../../document/documentView.tsx';
import type { ValueRow } from '../../document/values.ts';
import { reviews as texts } from '../../texts/reviews.ts';
import { Button } from '../../ui/button.tsx';
import { Badge, Card } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { isAbsent, isByPerson, type Doubt } from './draft.ts';
import { Field, type Mark } from './fields.tsx';
import { heard, useDeciding, type Deciding as Given, type Moves } from './moves.ts';

const whyOf = ({ code, confidence }: Doubt, isSaid: boolean): string =>
  confidence === undefined || isSaid ? texts.reasons[code] : texts.sure(texts.reasons[code], confidence);

interface Marked extends Pick<DecidingProps, 'review' | 'isOpen' | 'nameOf'> {
  readonly moves: Moves;
}

/** How a value was decided, and by whom; undefined: nobody doubted it. */
const decidedMark = ({ path }: ValueRow, { review: { decision }, nameOf }: Marked): Mark | undefined => {
  if (decision === null) return undefined;
  const { origins, absent, decided_by } = decision;
  const who = nameOf(decided_by);
  if (absent.includes(path)) return { tone: 'accent', text: texts.absentBy(who) };
  const origin = origins[path];
  if (origin === 'corrected') return { tone: 'accent', text: texts.correctedBy(who) };
  return origin === 'confirmed' ? { tone: 'good', text: texts.confirmedBy(who) } : undefined;
};

/** How a value stands in a draft; undefined: as it was read, and nobody doubts it. */
const draftMark = (row: ValueRow, citation: Citation | undefined, { moves }: Marked): Mark | undefined => {
  const { draft, doubtOf } = moves;
  const { path, value } = row;
  const doubt = doubtOf(row);
  const isAccepted = draft.accepted.has(path);
  if (doubt !== undefined && !isAccepted)
    return { tone: 'warn', text: whyOf(doubt, citation !== undefined && !isByPerson(citation)) };
  if (isAccepted && value === null) return { tone: 'accent', text: texts.absent };
  if (citation !== undefined && isByPerson(citation)) return { tone: 'accent', text: texts.corrected };
  return isAccepted ? { tone: 'good', text: texts.accepted } : undefined;
};

function Key({ name }: { name: string }) {
  return <kbd className="font-sans text-xs font-normal pointer-coarse:hidden">{name}</kbd>;
}

/** What can be done, each with its key. */
function Actions({ moves, isBusy, canDecide }: { moves: Moves; isBusy: boolean; canDecide: boolean }) {
  const { draft, left, isGroup, canBeNothing, accept, nothing, write, undo, done } = moves;
  const { changeRow, canChange, onReject, onGo } = moves;
  const { keys, row } = texts;
  return (
    <div className="sticky bottom-0 mt-3 flex flex-col gap-2 border-t border-line bg-surface pt-3 pb-1">
      <div className="flex flex-wrap gap-2">
        <Button size="small" onClick={accept}>
          {texts.accept} <Key name={keys.accept} />
        </Button>
        {!isGroup && (
          <Button size="small" onClick={() => write()}>
            {texts.write} <Key name={keys.write} />
          </Button>
        )}
        {canBeNothing && (
          <Button size="small" onClick={nothing}>
            {texts.empty} <Key name={keys.empty} />
          </Button>
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
        <Button disabled={!canDecide} onClick={onReject}>
          {texts.reject.open} <Key name={keys.reject} />
        </Button>
        <Button look="quiet" disabled={draft.before === undefined} onClick={undo}>
          {texts.undo} <Key name={keys.undo} />
        </Button>
        <Button look="quiet" onClick={() => onGo(1)}>
          {texts.skip} <Key name={keys.skip} />
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

/** Asks before a decision is sent with values that nobody looked at. */
function StillInDoubt({ moves: { isAsking, left, look, send } }: { moves: Moves }) {
  const { stillInDoubt: said } = texts;
  return (
    <Dialog isOpen={isAsking} onOpenChange={look} title={said.title(left.length)} say={said.say}>
      <ul className="list-disc pl-5">
        {left.slice(0, DOUBTS_SHOWN).map(({ path, name }) => (
          <li key={path}>{name.replaceAll('_', ' ')}</li>
        ))}
        {left.length > DOUBTS_SHOWN && <li>{said.more(left.length - DOUBTS_SHOWN)}</li>}
      </ul>
      <div className="flex justify-end gap-2">
        <Button data-first onClick={look}>
          {said.look}
        </Button>
        <Button look="primary" onClick={send}>
          {said.send}
        </Button>
      </div>
    </Dialog>
  );
}
const DOUBTS_SHOWN = 5;

interface DecidingProps extends Given {
  readonly file: File | undefined;
  /** It was not decided, so that it can be changed. */
  readonly isOpen: boolean;
  readonly isBusy: boolean;
  /** The name of a key, as people know it. */
  readonly nameOf: (keyId: string | null) => string;
}

/** The values of a review, each with how it stands. */
function Fields({ moves, ...given }: Marked) {
  const { draft, schema, rows, chosen, typed, turn, doubtOf, pick, type } = moves;
  const { isOpen } = given;
  const cited = useMemo(() => new Map(draft.citations.map((one) => [one.path, one])), [draft.citations]);
  return rows.map((row) => {
    const { path } = row;
    const citation = cited.get(path);
    const mark = isOpen
      ? draftMark(row, citation, { ...given, moves })
      : decidedMark(row, { ...given, moves });
    const isNeeded = isOpen && draft.accepted.has(path) && isAbsent(draft.result, schema, path);
    return (
      <Field
        key={path}
        row={row}
        isChosen={path === chosen}
        mark={mark}
        isDoubtful={mark?.tone === 'warn'}
        isWhole={isOpen && doubtOf(row) !== undefined}
        confidence={citation === undefined || isByPerson(citation) ? undefined : citation.confidence}
        note={isNeeded ? texts.absentSay : undefined}
        typed={typed}
        turn={turn}
        onType={type}
        onChoose={() => pick(path)}
      />
    );
  });
}

/** The document at the left, its values at the right. */
export function Deciding({ file, isOpen, isBusy, nameOf, ...given }: DecidingProps) {
  const moves = useDeciding(given);
  const { left } = moves;
  const fields = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const isThere = fields.current?.contains(event.target as Node) === true;
    if (heard(event, { moves, isThere, isOpen })) event.preventDefault();
  };
  return (
    <>
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
            <Fields moves={moves} review={given.review} isOpen={isOpen} nameOf={nameOf} />
          </div>
          {isOpen && <Actions moves={moves} isBusy={isBusy} canDecide={given.canDecide} />}
          <p className="mt-2 text-[13px] text-soft pointer-coarse:hidden">
            {isOpen ? texts.hint : texts.hintDecided}
          </p>
        </Card>
      </div>
      <StillInDoubt moves={moves} />
    </>
  );
}

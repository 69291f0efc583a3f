import { useState, type DragEvent, type KeyboardEvent, type ReactNode } from 'react';
import { ArrowDown, ArrowUp, ChevronDown, GripVertical, Plus, X } from '../../ui/icons/icons.tsx';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { classes, CONTROL } from '../../ui/style.ts';
import { added, allowedText, changed, entriesOf, FORMATS, insideOf, isRequired, KINDS } from './fields.ts';
import { kindOf, moved, placed, removed, withAllowed, withFormat, withRequired } from './fields.ts';
import { withInside, withKind, type Entry, type Kind } from './fields.ts';
import { pointerPart, type SchemaPart } from '../../document/values.ts';

const { schema: texts } = playground;

/** What was read for the field whose value stands at a pointer of the result. */
export type Beside = (pointer: string) => ReactNode;

/** On a wide screen a field is at the left of its values; else above. */
const BESIDE =
  'grid gap-x-3 border-t border-line/60 pt-1 xl:grid-cols-[minmax(0,1fr)_15rem] ' +
  'min-[87rem]:grid-cols-[minmax(0,1fr)_18rem] min-[105rem]:grid-cols-[minmax(0,1fr)_24rem]';

interface NameProps {
  readonly label: string;
  readonly name: string;
  readonly isTaken: (name: string) => boolean;
  readonly onName: (name: string) => void;
}

/** A name as it is typed; one that is empty or another field's is kept here only, and gone when one leaves. */
function NameInput({ label, name, isTaken, onName }: NameProps) {
  const [typed, type] = useState<string>();
  return (
    <input
      aria-label={label}
      aria-invalid={typed !== undefined}
      title={typed === undefined ? undefined : texts.taken}
      className={CONTROL}
      value={typed ?? name}
      onChange={({ target }) => {
        const isFree = target.value !== '' && !isTaken(target.value);
        type(isFree ? undefined : target.value);
        if (isFree) onName(target.value);
      }}
      onBlur={() => type(undefined)}
    />
  );
}

interface RowProps {
  readonly entry: Entry;
  /** The names above it, for who does not see where it stands. */
  readonly above: string;
  readonly isTaken: (name: string) => boolean;
  readonly onChange: (entry: Entry) => void;
  readonly isNeeded: boolean;
  readonly onNeed: (isNeeded: boolean) => void;
  readonly onRemove: () => void;
  readonly handle: HandleProps;
  /** undefined: it is the first, or the last. */
  readonly onUp: (() => void) | undefined;
  readonly onDown: (() => void) | undefined;
  /** Where its value stands in the result. */
  readonly pointer: string;
  readonly beside: Beside | undefined;
  readonly isNarrow: boolean;
}

function KindSelect({ entry, path, onChange }: Pick<RowProps, 'entry' | 'onChange'> & { path: string }) {
  const [name, part] = entry;
  const kind = kindOf(part);
  return (
    <select
      aria-label={`${texts.type}: ${path}`}
      className={`${CONTROL} max-w-32`}
      value={kind ?? ''}
      disabled={kind === undefined}
      onChange={({ target }) => onChange([name, withKind(part, target.value as Kind)])}
    >
      {kind === undefined && <option value="">{texts.other}</option>}
      {KINDS.map((one) => (
        <option key={one} value={one}>
          {texts.types[one]}
        </option>
      ))}
    </select>
  );
}

/** The line in which a field is named, typed, moved and removed, and what else is said of it. */
function FieldLine(props: RowProps & { path: string }) {
  const { entry, path, isTaken, isNeeded, onChange, onRemove, handle, isNarrow } = props;
  const [hasDetails, show] = useState(false);
  const [name, part] = entry;
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center gap-1">
        <Handle {...handle} path={path} />
        <NameInput
          label={`${texts.name}: ${path}`}
          name={name}
          isTaken={isTaken}
          onName={(next) => onChange([next, part])}
        />
        <KindSelect entry={entry} path={path} onChange={onChange} />
        {!isNarrow && (
          <input
            aria-label={`${texts.description}: ${path}`}
            placeholder={texts.description}
            className={`${CONTROL} shrink-[1.1] max-sm:hidden`}
            title={part.description}
            value={part.description ?? ''}
            onChange={({ target }) => onChange([name, { ...part, description: target.value }])}
          />
        )}
        <span className="flex shrink-0">
          <Button
            look="quiet"
            size="icon"
            className={classes('w-6', isNeeded && 'text-accent')}
            aria-label={texts.details(path)}
            aria-expanded={hasDetails}
            onClick={() => show(!hasDetails)}
          >
            <ChevronDown aria-hidden className={classes('size-4', hasDetails && 'rotate-180')} />
          </Button>
          <Button look="quiet" size="icon" className="w-6" aria-label={texts.remove(path)} onClick={onRemove}>
            <X aria-hidden className="size-4" />
          </Button>
        </span>
      </div>
      {hasDetails && <Details {...props} />}
    </div>
  );
}

/** A field beside what was read for it, and below it the fields that it has itself. */
function FieldRow(props: RowProps) {
  const { entry, above, onChange, beside, pointer } = props;
  const [name, part] = entry;
  const path = above === '' ? name : `${above} ${name}`;
  const isGroup = kindOf(part) === 'group';
  const inside = insideOf(part);
  const fields = inside !== undefined && (
    <div className="ml-2 border-l-2 border-line pl-2">
      <FieldRows
        schema={inside}
        above={path}
        onChange={(next) => onChange([name, withInside(part, next)])}
        pointer={pointer}
        // what was read of a list stands beside the list
        beside={isGroup ? beside : undefined}
        isNarrow={props.isNarrow}
      />
    </div>
  );
  // One tree with and without a result: who types while one arrives goes on typing.
  return (
    <div className="flex flex-col gap-1">
      <div className={beside === undefined ? 'contents' : BESIDE}>
        <div className="flex min-w-0 flex-col gap-1">
          <FieldLine {...props} path={path} />
          {!isGroup && fields}
        </div>
        {beside?.(pointer)}
      </div>
      {isGroup && fields}
    </div>
  );
}

const hasAllowed = (kind: Kind | undefined): boolean =>
  kind === 'string' || kind === 'number' || kind === 'integer';

/** Whether a field is required and what it may hold, its place, and its description where the line has no room. */
function Details(props: RowProps & { path: string }) {
  const { entry, path, isNeeded, onNeed, onChange, onUp, onDown, isNarrow } = props;
  const [name, part] = entry;
  const kind = kindOf(part);
  return (
    <div className="mb-1 ml-7 flex flex-wrap items-end gap-x-4 gap-y-2 rounded-md bg-sunken p-2">
      <label className="flex h-8 items-center gap-2">
        <input
          type="checkbox"
          aria-label={`${texts.required}: ${path}`}
          checked={isNeeded}
          onChange={({ target }) => onNeed(target.checked)}
        />
        {texts.required}
      </label>
      <span className="flex">
        <Move label={texts.up(path)} icon={ArrowUp} onMove={onUp} />
        <Move label={texts.down(path)} icon={ArrowDown} onMove={onDown} />
      </span>
      {kind === 'string' && (
        <label className="flex flex-col text-[13px] text-soft">
          {texts.format}
          <select
            aria-label={`${texts.format}: ${path}`}
            className={`${CONTROL} w-36`}
            value={part.format ?? ''}
            onChange={({ target }) => onChange([name, withFormat(part, target.value)])}
          >
            <option value="">{texts.anyFormat}</option>
            {FORMATS.map((one) => (
              <option key={one} value={one}>
                {texts.formats[one]}
              </option>
            ))}
          </select>
        </label>
      )}
      {hasAllowed(kind) && <Allowed part={part} path={path} onPart={(next) => onChange([name, next])} />}
      <label className={classes('flex w-full flex-col text-[13px] text-soft', !isNarrow && 'sm:hidden')}>
        {texts.description}
        <input
          aria-label={`${texts.description}: ${path}`}
          className={CONTROL}
          value={part.description ?? ''}
          onChange={({ target }) => onChange([name, { ...part, description: target.value }])}
        />
      </label>
    </div>
  );
}

interface AllowedProps {
  readonly part: SchemaPart;
  readonly path: string;
  readonly onPart: (part: SchemaPart) => void;
}

/** Allowed values as they are typed: a comma at the end stays until one leaves. */
function Allowed({ part, path, onPart }: AllowedProps) {
  const [typed, type] = useState<string>();
  return (
    <label className="flex min-w-48 flex-1 flex-col text-[13px] text-soft">
      {texts.allowed}
      <input
        aria-label={`${texts.allowed}: ${path}`}
        title={texts.allowedSay}
        placeholder={texts.allowedSay}
        className={CONTROL}
        value={typed ?? allowedText(part)}
        onChange={({ target }) => {
          type(target.value);
          onPart(withAllowed(part, target.value));
        }}
        onBlur={() => type(undefined)}
      />
    </label>
  );
}

interface HandleProps {
  readonly at: number;
  readonly list: string;
  readonly onPlace: (from: number, to: number) => void;
}

const DRAGGED = 'application/x-quire-field';

/** The place of a field that is dragged over another one of the same list; undefined: something else is. */
const draggedFrom = (event: DragEvent, list: string): number | undefined => {
  const [from, of] = event.dataTransfer.getData(DRAGGED).split(' ');
  return from === undefined || of !== JSON.stringify(list).replaceAll(' ', '') ? undefined : Number(from);
};

/** By it a field is dragged to another place of its list, or moved by the arrow keys; the focus goes with it. */
function Handle({ at, list, onPlace, path }: HandleProps & { path: string }) {
  const move = (event: KeyboardEvent<HTMLButtonElement>): void => {
    const to = at + ({ ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0);
    if (to === at) return;
    event.preventDefault();
    const rows = event.currentTarget.closest('[data-fields]');
    onPlace(at, to);
    rows?.querySelector<HTMLElement>(`:scope > [data-at="${String(to)}"] [data-handle]`)?.focus();
  };
  return (
    <button
      type="button"
      draggable
      data-handle
      aria-label={texts.drag(path)}
      onKeyDown={move}
      onDragStart={(event) => {
        event.dataTransfer.effectAllowed = 'move';
        const of = JSON.stringify(list).replaceAll(' ', '');
        event.dataTransfer.setData(DRAGGED, `${String(at)} ${of}`);
      }}
      className="shrink-0 cursor-grab rounded text-soft hover:text-ink active:cursor-grabbing pointer-coarse:hidden"
    >
      <GripVertical aria-hidden className="size-4" />
    </button>
  );
}

interface MoveProps {
  readonly label: string;
  readonly icon: typeof ArrowUp;
  readonly onMove: (() => void) | undefined;
}

function Move({ label, icon: Icon, onMove }: MoveProps) {
  return (
    <Button
      look="quiet"
      size="icon"
      className="w-6"
      aria-label={label}
      disabled={onMove === undefined}
      onClick={onMove}
    >
      <Icon aria-hidden className="size-3.5" />
    </Button>
  );
}

interface FieldRowsProps {
  readonly schema: SchemaPart;
  readonly onChange: (schema: SchemaPart) => void;
  readonly above?: string;
  readonly pointer?: string;
  /** Left out: nothing was read yet, or it stands elsewhere. */
  readonly beside?: Beside | undefined;
  readonly isNarrow?: boolean;
}

/** The fields of an object one below the other: named, typed, moved and removed where they stand. */
export function FieldRows(props: FieldRowsProps) {
  const { schema, onChange, above = '', pointer = '', beside, isNarrow = beside !== undefined } = props;
  const entries = entriesOf(schema);
  const onPlace = (from: number, to: number): void => onChange(placed(schema, from, to));
  return (
    <div data-fields className="flex flex-col gap-1 p-0.5">
      {entries.map((entry, at) => (
        <div
          key={at}
          data-at={at}
          onDragOver={(event) => {
            if (event.dataTransfer.types.includes(DRAGGED)) event.preventDefault();
          }}
          onDrop={(event) => {
            const from = draggedFrom(event, above);
            if (from === undefined) return;
            event.preventDefault();
            event.stopPropagation();
            onPlace(from, at);
          }}
        >
          <FieldRow
            entry={entry}
            above={above}
            pointer={`${pointer}/${pointerPart(entry[0])}`}
            beside={beside}
            isNarrow={isNarrow}
            handle={{ at, list: above, onPlace }}
            isNeeded={isRequired(schema, entry[0])}
            onNeed={(isNeeded) => onChange(withRequired(schema, entry[0], isNeeded))}
            isTaken={(name) => entries.some(([other], place) => place !== at && other === name)}
            onChange={(next) => onChange(changed(schema, at, next))}
            onRemove={() => onChange(removed(schema, at))}
            onUp={at === 0 ? undefined : () => onChange(moved(schema, at, -1))}
            onDown={at === entries.length - 1 ? undefined : () => onChange(moved(schema, at, 1))}
          />
        </div>
      ))}
      <Button size="small" className="self-start" onClick={() => onChange(added(schema))}>
        <Plus aria-hidden className="size-4" /> {above === '' ? texts.add : texts.addTo(above)}
      </Button>
    </div>
  );
}

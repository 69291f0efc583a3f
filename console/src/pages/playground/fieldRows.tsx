import { useState } from 'react';
import { ArrowDown, ArrowUp, Plus, X } from '../../ui/icons/icons.tsx';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { classes, CONTROL } from '../../ui/style.ts';
import { added, changed, entriesOf, insideOf, KINDS, kindOf, moved, removed } from './fields.ts';
import { withInside, withKind, type Entry, type Kind } from './fields.ts';
import type { SchemaPart } from '../../document/values.ts';

const { schema: texts } = playground;

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
  readonly onRemove: () => void;
  /** undefined: it is the first, or the last. */
  readonly onUp: (() => void) | undefined;
  readonly onDown: (() => void) | undefined;
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

/** A field, and below it the fields that it has itself. */
function FieldRow({ entry, above, isTaken, onChange, onRemove, onUp, onDown }: RowProps) {
  const [name, part] = entry;
  const path = above === '' ? name : `${above} ${name}`;
  const inside = insideOf(part);
  const description = (
    <input
      aria-label={`${texts.description}: ${path}`}
      placeholder={texts.description}
      className={`${CONTROL} shrink-[1.1] max-sm:hidden`}
      title={part.description}
      value={part.description ?? ''}
      onChange={({ target }) => onChange([name, { ...part, description: target.value }])}
    />
  );
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center gap-1">
        <NameInput
          label={`${texts.name}: ${path}`}
          name={name}
          isTaken={isTaken}
          onName={(next) => onChange([next, part])}
        />
        <KindSelect entry={entry} path={path} onChange={onChange} />
        {description}
        <span className="flex shrink-0">
          <Move label={texts.up(path)} icon={ArrowUp} onMove={onUp} />
          <Move label={texts.down(path)} icon={ArrowDown} onMove={onDown} />
          <Button look="quiet" size="icon" className="w-6" aria-label={texts.remove(path)} onClick={onRemove}>
            <X aria-hidden className="size-4" />
          </Button>
        </span>
      </div>
      {inside !== undefined && (
        <div className="ml-2 border-l-2 border-line pl-2">
          <FieldRows
            schema={inside}
            above={path}
            onChange={(next) => onChange([name, withInside(part, next)])}
          />
        </div>
      )}
    </div>
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
  readonly className?: string;
}

/** The fields of an object one below the other: named, typed, moved and removed where they stand. */
export function FieldRows({ schema, onChange, above = '', className }: FieldRowsProps) {
  const entries = entriesOf(schema);
  return (
    <div className={classes('flex flex-col gap-1 p-0.5', className)}>
      {entries.map((entry, at) => (
        <FieldRow
          key={at}
          entry={entry}
          above={above}
          isTaken={(name) => entries.some(([other], place) => place !== at && other === name)}
          onChange={(next) => onChange(changed(schema, at, next))}
          onRemove={() => onChange(removed(schema, at))}
          onUp={at === 0 ? undefined : () => onChange(moved(schema, at, -1))}
          onDown={at === entries.length - 1 ? undefined : () => onChange(moved(schema, at, 1))}
        />
      ))}
      <Button size="small" className="self-start" onClick={() => onChange(added(schema))}>
        <Plus aria-hidden className="size-4" /> {above === '' ? texts.add : texts.addTo(above)}
      </Button>
    </div>
  );
}

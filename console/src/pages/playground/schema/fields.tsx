import { Plus, X } from '../../../ui/icons/icons.tsx';
import { playground } from '../../../texts/playground.ts';
import { Button } from '../../../ui/button.tsx';
import { CONTROL } from '../../../ui/form/control.ts';
import type { SchemaPart } from '../values.ts';

const { schema: texts } = playground;

const TYPES = ['string', 'date', 'number', 'boolean'] as const;
type TypeName = (typeof TYPES)[number];

const typeOf = ({ type, format }: SchemaPart): TypeName | undefined => {
  if (type === 'string') return format === 'date' ? 'date' : 'string';
  return type === 'number' || type === 'boolean' ? type : undefined;
};

const withType = ({ description }: SchemaPart, type: TypeName): SchemaPart => ({
  ...(type === 'date' ? { type: 'string', format: 'date' } : { type }),
  ...(description === undefined ? {} : { description }),
});

interface FieldsProps {
  readonly schema: SchemaPart;
  readonly onChange: (schema: SchemaPart) => void;
}

type Entry = readonly [string, SchemaPart];

function FieldRow({
  entry,
  onChange,
  onRemove,
}: {
  entry: Entry;
  onChange: (e: Entry) => void;
  onRemove: () => void;
}) {
  const [name, part] = entry;
  const type = typeOf(part);
  return (
    <div className="flex items-center gap-1">
      <input
        aria-label={`${texts.name}: ${name}`}
        className={CONTROL}
        value={name}
        onChange={({ target }) => onChange([target.value, part])}
      />
      <select
        aria-label={`${texts.type}: ${name}`}
        className={`${CONTROL} max-w-28`}
        value={type ?? ''}
        disabled={type === undefined}
        onChange={({ target }) => onChange([name, withType(part, target.value as TypeName)])}
      >
        {type === undefined && <option value="">{texts.other}</option>}
        {TYPES.map((one) => (
          <option key={one} value={one}>
            {texts.types[one]}
          </option>
        ))}
      </select>
      <input
        aria-label={`${texts.description}: ${name}`}
        placeholder={texts.description}
        className={`${CONTROL} max-sm:hidden`}
        value={part.description ?? ''}
        onChange={({ target }) => onChange([name, { ...part, description: target.value }])}
      />
      <Button look="quiet" size="icon" aria-label={texts.remove(name)} onClick={onRemove}>
        <X aria-hidden className="size-4" />
      </Button>
    </div>
  );
}

/** A schema field by field; what is deeper is written as JSON. */
export function Fields({ schema, onChange }: FieldsProps) {
  const entries: readonly Entry[] = Object.entries(schema.properties ?? {});
  const keep = (next: readonly Entry[]): void =>
    onChange({ ...schema, properties: Object.fromEntries(next) });
  const free = (): string => {
    const names = new Set(entries.map(([name]) => name));
    let count = entries.length + 1;
    while (names.has(`field_${String(count)}`)) count += 1;
    return `field_${String(count)}`;
  };
  return (
    <div className="flex max-h-60 flex-col gap-1 overflow-y-auto p-0.5">
      {entries.map((entry, at) => (
        <FieldRow
          key={at}
          entry={entry}
          onChange={(changed) => {
            const isTaken = entries.some(([name], other) => other !== at && name === changed[0]);
            if (!isTaken) keep(entries.with(at, changed));
          }}
          onRemove={() => keep(entries.toSpliced(at, 1))}
        />
      ))}
      <Button
        size="small"
        className="self-start"
        onClick={() => keep([...entries, [free(), { type: 'string' }]])}
      >
        <Plus aria-hidden className="size-4" /> {texts.add}
      </Button>
    </div>
  );
}

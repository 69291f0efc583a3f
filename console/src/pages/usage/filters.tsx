import { usage as texts } from '../../texts/usage.ts';
import { useAddressValue } from '../../ui/go.tsx';
import { CONTROL } from '../../ui/form/control.ts';
import { Button } from '../../ui/button.tsx';

export interface Between {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** The days that lists are about; they stand in the address. */
export const useBetween = (): Between => {
  const [from] = useAddressValue('from');
  const [to] = useAddressValue('to');
  return { from, to };
};

function DayInput({ name, label }: { name: 'from' | 'to'; label: string }) {
  const [value, keep] = useAddressValue(name);
  return (
    <label className="flex items-center gap-2 text-soft">
      {label}
      <input
        type="date"
        value={value ?? ''}
        onChange={({ target }) => keep(target.value === '' ? undefined : target.value)}
        className={`${CONTROL} w-36`}
      />
    </label>
  );
}

/** Chooses the first and the last day (UTC) of what is listed. */
export function DayFilters() {
  const { from, to } = useBetween();
  const [, keepFrom] = useAddressValue('from');
  const [, keepTo] = useAddressValue('to');
  const clear = (): void => {
    keepFrom(undefined);
    keepTo(undefined);
  };
  return (
    <>
      <DayInput name="from" label={texts.filters.from} />
      <DayInput name="to" label={texts.filters.to} />
      {(from !== undefined || to !== undefined) && (
        <Button look="quiet" size="small" onClick={clear}>
          {texts.filters.clear}
        </Button>
      )}
    </>
  );
}

import { Plus, X } from '../../../ui/icons/icons.tsx';
import { finance as texts } from '../../../texts/finance.ts';
import { Button } from '../../../ui/button.tsx';
import { CONTROL } from '../../../ui/form/control.ts';
import { Select } from '../../../ui/form/select.tsx';
import { faultOf, type Entry } from './entries.ts';

const BASES = Object.entries(texts.prices.bases).map(([value, name]) => ({ value, name }));

interface EntryLinesProps {
  readonly entries: readonly Entry[];
  readonly onChange: (entries: readonly Entry[]) => void;
  /** What the amounts are. */
  readonly amountName: string;
  readonly amounts: RegExp;
  /** Whether each says how it stands to VAT. */
  readonly hasBasis?: boolean;
}

/** Lines of a currency and its amount; lines can be added and removed. */
export function EntryLines({ entries, onChange, amountName, amounts, hasBasis }: EntryLinesProps) {
  const change = (key: string, to: Partial<Entry>): void =>
    onChange(entries.map((entry) => (entry.key === key ? { ...entry, ...to } : entry)));
  const add = (): void =>
    onChange([...entries, { key: crypto.randomUUID(), currency: '', amount: '', basis: 'exclusive' }]);
  return (
    <div className="flex flex-col gap-2">
      {entries.map((entry) => {
        const fault = faultOf(entry, entries, { amounts, words: texts.prices });
        const isTyped = entry.currency !== '' && entry.amount !== '';
        const id = `fault-${entry.key}`;
        return (
          <div key={entry.key} className="flex flex-col gap-1">
            <div className="flex items-center gap-2">
              <input
                aria-label={texts.prices.currency}
                placeholder="EUR"
                maxLength={3}
                value={entry.currency}
                onChange={({ target }) => change(entry.key, { currency: target.value.toUpperCase() })}
                className={`${CONTROL} max-w-20`}
              />
              <input
                aria-label={`${amountName} ${entry.currency}`.trim()}
                placeholder="0.00"
                inputMode="decimal"
                value={entry.amount}
                aria-invalid={isTyped && fault !== undefined}
                aria-describedby={id}
                onChange={({ target }) => change(entry.key, { amount: target.value })}
                className={`${CONTROL} max-w-40 text-right`}
              />
              {hasBasis === true && (
                <div className="w-28">
                  <Select
                    label={`${texts.prices.basis} ${entry.currency}`.trim()}
                    choices={BASES}
                    value={entry.basis}
                    onChange={(basis) => change(entry.key, { basis: basis as Entry['basis'] })}
                  />
                </div>
              )}
              <Button
                look="quiet"
                size="icon"
                aria-label={`${texts.prices.remove} ${entry.currency}`.trim()}
                onClick={() => onChange(entries.filter(({ key }) => key !== entry.key))}
              >
                <X aria-hidden className="size-4" />
              </Button>
            </div>
            <p id={id} className="text-[13px] text-bad">
              {isTyped ? fault : undefined}
            </p>
          </div>
        );
      })}
      <Button size="small" className="self-start" onClick={add}>
        <Plus aria-hidden className="size-3.5" />
        {texts.prices.add}
      </Button>
    </div>
  );
}
